#!/usr/bin/env bash
# Type-checks the libraries for Android and for the static Linux SDK (musl), on Linux: with the real compiler, for the triples of both, against
# stand-ins for their C libraries (Tests/StandIns/Platforms). Nothing is linked or run.
#
#   Scripts/platforms.sh          both
#   Scripts/platforms.sh android  one of them
#
# How: as `Scripts/apple.sh` does it. The toolchain's modules, Foundation and FoundationNetworking among them, and those of the packages are copied,
# and the triple that they name as their own is overwritten. The C library is the stand-in, which says of pointers and types what Bionic or musl
# says. On Android, Foundation does not export it. A package of which Android builds other sources than Linux is as Linux builds it: swift-nio.
#
# It proves that it can fail: known mistakes in a small file are found, each where it is one, and one that is put back into the base.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
built=$root/.build/debug/Modules
standIns=$root/Tests/StandIns/Platforms
libraries="WaylayBase WaylayCore WaylayHAR WaylayArchive WaylayHosts WaylayRecording WaylayInspector WaylayInspectorServer WaylayMocks
  WaylayRemoteControl WaylayTesting WaylayInterceptors WaylayRemote WaylayTunnel WaylayWebView Waylay"
packages="HTTPTypes Logging DequeModule HeapModule OrderedCollections InternalCollectionsUtilities ContainersPreview Crypto CryptoBoringWrapper
  IssueReporting IssueReportingTestSupport RawStructuredFieldValues CoreMetrics Metrics Tracing Instrumentation ServiceContextModule Atomics
  NIOCore NIOPosix NIOHTTP1 NIOConcurrencyHelpers _NIODataStructures _NIOBase64"
# The C of these packages: nothing of it is seen by what imports them.
empty="CDispatch _FoundationCShims CoreFoundation _foundation_unicode _FoundationICU CNIODarwin CNIOWindows CNIOWASI CNIOFreeBSD CNIOOpenBSD CNIOPosix
  CNIOAtomics CNIOLLHTTP _AtomicsShims"

[ "$(uname)" = Linux ] || { echo "The check is for Linux."; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")/lib/swift
info=$(swiftc -print-target-info)
linux=$(sed -n 's/.*"moduleTriple" *: *"\(.*\)".*/\1/p' <<<"$info" | head -1)
features=$(sed -n 's/.*enableUpcomingFeature("\(.*\)").*/-enable-upcoming-feature \1/p; s/^ *\.define("\([A-Z_]*\)", \.when.*/-D \1/p' Package.swift)
# All traits but that of the library which is not checked.
features+=" $(Scripts/manifest.py traits | sed 's/^/-D /' | grep -v AsyncHTTPClient | tr '\n' ' ')"

for module in $packages; do
  [ -f "$built/$module.swiftmodule" ] || { echo "$module has not been built: run swift build --enable-all-traits --build-tests first" >&2; exit 2; }
done

# The triple of a platform, as long as the one it takes the place of: the vendor means nothing.
triple_of() {
  local rest vendor
  case "$1" in android) rest=linux-android24 ;; musl) rest=linux-musl ;; esac
  vendor=$(printf 'unknown-unknown' | cut -c "1-$((${#linux} - ${#rest} - ${#ISA} - 2))")
  echo "$ISA-$vendor-$rest"
}
ISA=${linux%%-*}

# The compiler for a platform, without a module name and sources.
compile() {
  local place=$work/$1 triple
  triple=$(triple_of "$1")
  shift
  swiftc -frontend "$@" -target "$triple" -resource-dir "$place/resources" -module-cache-path "$place/cache" \
    -swift-version 6 -parse-as-library -disable-objc-interop -Xcc --sysroot="$place/sdk" -plugin-path "$toolchain/host/plugins" \
    -I "$place/modules" -I "$standIns/C" -I "$place/curl" -I "$root/Tests/StandIns/Apple/CNIOLinux"
}

# The resource folder and the modules of a platform.
prepare() {
  local platform=$1 place=$work/$1 folder=$work/$1/resources/$1 triple module name kind
  triple=$(triple_of "$platform")
  mkdir -p "$place/modules" "$place/curl" "$folder" "$place/sdk/usr/include"
  # What the compiler knows a C library by.
  touch "$place/sdk/usr/include/inttypes.h" "$place/sdk/usr/include/unistd.h"
  # For musl the compiler leaves this one to the C library.
  echo 'typedef __SIZE_TYPE__ size_t; typedef __PTRDIFF_TYPE__ ptrdiff_t; typedef __WCHAR_TYPE__ wchar_t;' >"$place/sdk/usr/include/stddef.h"
  ln -s "$toolchain/clang" "$toolchain/apinotes" "$place/resources/"
  # The headers of glibc are not those of the platform: the C modules that lead to them are empty here.
  cp -R "$toolchain/shims" "$place/resources/shims"
  sed -i '/LibcOverlayShims.h/,/export/d' "$place/resources/shims/module.modulemap"
  : >"$place/resources/shims/_SynchronizationShims.h"
  for name in $empty; do printf 'module %s {}\n' "$name" >>"$place/resources/shims/module.modulemap"; done
  for name in CWaylayCurl CWaylaySQLite; do
    printf 'module %s { header "%s" export * }\n' "$name" "$root/Sources/$name/include/$name.h" >>"$place/curl/module.modulemap"
  done
  for module in "$toolchain"/linux/*.swiftmodule; do
    name=$(basename "$module" .swiftmodule)
    case "$name" in FoundationXML | Dispatch | Glibc | XCTest) continue ;; esac
    mkdir -p "$folder/$name.swiftmodule"
    # A compiled module, or else its interface, which the compiler compiles.
    for kind in swiftmodule swiftinterface; do
      [ -f "$module/$linux.$kind" ] || continue
      LC_ALL=C sed "s/$linux/$triple/g" "$module/$linux.$kind" >"$folder/$name.swiftmodule/$(sed 's/[0-9]*$//' <<<"$triple").$kind"
      break
    done
  done
  for name in $packages; do LC_ALL=C sed "s/$linux/$triple/g" "$built/$name.swiftmodule" >"$place/modules/$name.swiftmodule"; done
  # What Foundation and the packages know as Glibc exports no function on Android.
  case "$platform" in
  android)
    stand_in "$platform" Glibc "$standIns/Codes.swift" -enable-library-evolution
    stand_in "$platform" Android "$standIns/Overlay.swift"
    ;;
  musl)
    stand_in "$platform" Musl "$standIns/Overlay.swift"
    echo "@_exported import Musl" >"$place/Glibc.swift"
    stand_in "$platform" Glibc "$standIns/Codes.swift" -enable-library-evolution "$place/Glibc.swift"
    ;;
  esac
  stand_in "$platform" Dispatch "$root/Tests/StandIns/Apple/Dispatch/Dispatch.swift" -enable-library-evolution
  stand_in "$platform" XCTest "$root/Tests/StandIns/Apple/XCTest/XCTest.swift"
}

# `stand_in PLATFORM MODULE SOURCE… OPTION…`
stand_in() {
  compile "$1" -emit-module -experimental-skip-all-function-bodies -suppress-warnings -module-name "$2" \
    -o "$work/$1/modules/$2.swiftmodule" "${@:3}"
}

# Checks one module, which is for those that depend on it: `check_module PLATFORM MODULE FOLDER`.
check_module() {
  # shellcheck disable=SC2046,SC2086
  compile "$1" -emit-module -module-name "$2" -package-name waylay -o "$work/$1/modules/$2.swiftmodule" -enable-testing $features \
    -warnings-as-errors $(find -L "$3" -name '*.swift' | LC_ALL=C sort)
}

check_platform() {
  local platform=$1 library log
  prepare "$platform"
  for library in $libraries; do
    log=$work/$platform.$library.log
    check_module "$platform" "$library" "$root/Sources/$library" >"$log" 2>&1 && continue
    sed "s|^$root/||" "$log"
    echo "✘ $library does not compile for $platform: $(grep -cE '^[^ |]+: error: ' "$log") errors" >&2
    return 1
  done
  echo "✔ $(wc -w <<<"$libraries") modules compile for $platform"
  known_mistakes "$platform"
}

# What is wrong on a platform is found, and nothing else.
known_mistakes() {
  local platform=$1 log=$work/$1.mistakes.log expected found copy=$work/$1.copy
  compile "$platform" -typecheck -module-name Mistakes "$standIns/KnownMistakes.swift" >"$log" 2>&1 || true
  expected=$(grep -n "// mistake:.* $platform" "$standIns/KnownMistakes.swift" | cut -d: -f1)
  found=$(sed -n 's/^[^ |]*KnownMistakes.swift:\([0-9]*\):[0-9]*: error: .*/\1/p' "$log" | sort -nu)
  [ "$expected" = "$found" ] || {
    cat "$log"
    echo "✘ the known mistakes did not give their errors: this check proves nothing" >&2
    return 1
  }
  echo "✔ $(wc -w <<<"$expected") known mistakes are found for $platform"
  [ "$platform" = android ] || return 0
  cp -R "$root/Sources/WaylayBase" "$copy"
  sed -i '/import Android/d' "$copy/Platform/Exports.swift"
  ! check_module "$platform" WaylayBase "$copy" >"$log" 2>&1 && grep -q "error: cannot find .*'pthread_mutex_t'" "$log" || {
    cat "$log"
    echo "✘ the base without the C library's module was not found: this check proves nothing" >&2
    return 1
  }
  echo "✔ a missing import of the C library is found"
}

# On two cores.
export -f check_platform known_mistakes check_module stand_in prepare compile triple_of
export root built standIns libraries packages empty work toolchain linux features ISA
tr ' ' '\n' <<<"${*:-android musl}" | xargs -P 2 -I PLATFORM bash -euo pipefail -c 'check_platform PLATFORM'
# The shim's C against musl's own headers, where the package musl-dev has put them.
headers=/usr/include/$ISA-linux-musl
if [ -d "$headers" ]; then
  "$(dirname "$(readlink -f "$(command -v swiftc)")")/clang" -target "$(triple_of musl)" -nostdlibinc -isystem "$headers" -fsyntax-only -Wall \
    -Wextra -Werror -ISources/CWaylayCurl/include -ISources/CWaylaySQLite/include Sources/CWaylay*/*.c
  echo "✔ the C of CurlTransport and of SQLite's functions compiles for musl"
else
  echo "Not checked: the C of CurlTransport and of SQLite's functions for musl, because musl-dev is not installed."
fi
echo "Not checked: anything linked or run, the program, the tests, WaylayAsyncHTTPClient, Windows."
