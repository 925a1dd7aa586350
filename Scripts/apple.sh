#!/usr/bin/env bash
# Type-checks the libraries for Apple platforms, and the program, the examples and the tests for macOS, on Linux: with the real compiler, for the
# real triples of the package's floor, against stand-ins for Apple's frameworks (Tests/StandIns/Apple). Nothing is linked or run.
#
#   Scripts/apple.sh              the floor of each platform: macOS 13, iOS 16, watchOS 9, tvOS 16 (visionOS takes its versions from its SDK)
#   Scripts/apple.sh macosx13.0   one of them
#   Scripts/apple.sh --write ios16.0    stores what only Apple platforms have of the public API, as Scripts/API/Apple
#
# With ios16.0 that API is compared with the stored one, and the guide's listings for Apple platforms are checked. WAYLAY_SYMBOLS=FOLDER: symbol
# graphs of iOS for Scripts/documentation.sh.
#
# How: the toolchain's modules (the standard library, FoundationEssentials, …) and those of the packages that Waylay uses are copied, and the
# triple that a module file names as its own is overwritten by Apple's, so that the compiler takes them. With them comes what they say of
# availability: `Task.immediate` needs macOS 26 here, as it does there. The toolchain's `Foundation`, `FoundationNetworking`, `Dispatch` and
# `Glibc` are not among them: `Foundation`, `Darwin`, `Dispatch`, `CoreFoundation`, `Security`, `CFNetwork`, `Network`, `WebKit` and `NIOTransportServices` are the
# stand-ins. So `canImport(Darwin)` and `os(macOS)` are true, and `canImport(FoundationNetworking)` and `os(Linux)` are false, as on a Mac.
# A package of which Linux and Apple build different sources is as Linux builds it: swift-nio, and swift-crypto, which is CryptoKit there.
#
# It proves that it can fail: six known mistakes give six errors, each of three mistakes put back into the sources is found, and so are methods of
# a delegate that are in none of its protocols.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
# Other sources than those of the tree, for a test of this script.
sources=${WAYLAY_APPLE_SOURCES:-$root/Sources}
built=$root/.build/debug/Modules
standIns=$root/Tests/StandIns/Apple
libraries="WaylayBase WaylayCore WaylayHAR WaylayArchive WaylayHosts WaylayRecording WaylayInspector WaylayInspectorServer WaylayMocks
  WaylayAsyncHTTPClient WaylayRemoteControl WaylayTesting WaylayInterceptors WaylayRemote WaylayTunnel WaylayWebView Waylay"
# What is checked for macOS alone, where there are processes and tests: the module, and the folder where it does not follow from the name.
rest="TestOrigin=Tests/Support/TestOrigin HijackLab=Tests/Support/HijackLab StoreFaults=Tests/Support/StoreFaults TestSupport=Tests/Support/TestSupport WaylayTool
  archive-torture=Tests/Harnesses/archive-torture exits=Tests/Harnesses/exits surviving-hijacks=Examples/surviving-hijacks
  remote-control=Examples/remote-control
  stress=Tests/Harnesses/stress
  inspector-sizes=Tests/Harnesses/inspector-sizes walk=Tests/Harnesses/walk tour=Examples/tour AppleCore=Tests/AppleModel/Core
  AppleModel=Tests/AppleModel/AppleModel apple-model=Tests/AppleModel/apple-model"
isWriting=
[ "${1:-}" != --write ] || { isWriting=1; shift; }
floors=${*:-macosx13.0 ios16.0 watchos9.0 tvos16.0}
# What Waylay uses of other packages, with what these need; built for Linux.
packages="HTTPTypes Logging DequeModule HeapModule OrderedCollections InternalCollectionsUtilities ContainersPreview Crypto CryptoBoringWrapper
  IssueReporting IssueReportingTestSupport RawStructuredFieldValues CoreMetrics Metrics Tracing Instrumentation ServiceContextModule Atomics
  NIOCore NIOPosix NIOHTTP1 NIOConcurrencyHelpers _NIODataStructures _NIOBase64"
# The C of these packages: nothing of it is seen by what imports them.
empty="CDispatch _FoundationCShims CoreFoundation _foundation_unicode CNIODarwin CNIOWindows CNIOWASI CNIOFreeBSD CNIOOpenBSD CNIOPosix
  CNIOAtomics CNIOLLHTTP _AtomicsShims"
# The same for what is checked for macOS alone.
packages+=" ArgumentParser ArgumentParserToolInfo NIOSSL NIOTLS NIOHTTP2 NIOHPACK X509 SwiftASN1 _CertificateInternals MetricsTestKit
  InMemoryTracing CryptoExtras _CryptoExtras"
# AsyncHTTPClient as Linux builds it: without what it has for Network.framework.
packages+=" AsyncHTTPClient NIOEmbedded SystemPackage Algorithms RealModule Configuration NIO NIOSOCKS NIOHTTPCompression"
empty+=" CAsyncHTTPClient CSystem CNIOExtrasZlib _NumericsShims"
empty+=" CNIOBoringSSL CNIOBoringSSLShims CNIOSHA1 CCryptoBoringSSL CCryptoBoringSSLShims CXKCP CXKCPShims CLyingResolver"

[ "$(uname)" = Linux ] || { echo "The check is for Linux; on a Mac the compiler checks when it builds."; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")/lib/swift
info=$(swiftc -print-target-info)
linux=$(sed -n 's/.*"moduleTriple" *: *"\(.*\)".*/\1/p' <<<"$info" | head -1)
features=$(sed -n 's/.*enableUpcomingFeature("\(.*\)").*/-enable-upcoming-feature \1/p' Package.swift)
# All traits, as everywhere in this package.
features+=" $(Scripts/manifest.py traits | sed 's/^/-D /' | tr '\n' ' ')"

for module in $packages; do
  [ -f "$built/$module.swiftmodule" ] || { echo "$module has not been built: run swift build --enable-all-traits --build-tests first" >&2; exit 2; }
done

# The triple of a floor, as long as the one it takes the place of: versions end in zeros that mean nothing.
triple_of() {
  local triple=arm64-apple-$1
  while [ ${#triple} -lt ${#linux} ]; do triple+=0; done
  [ ${#triple} -eq ${#linux} ] || { echo "$triple does not fit in the place of $linux" >&2; exit 2; }
  echo "$triple"
}

# What the driver calls the folder of a platform.
folder_of() {
  case "$1" in macosx*) echo macosx ;; ios*) echo iphoneos ;; watchos*) echo watchos ;; tvos*) echo appletvos ;; esac
}

# The compiler for a floor, without a module name and sources.
compile() {
  local floor=$1 place=$work/$1
  shift
  swiftc -frontend "$@" -target "$(triple_of "$floor")" -resource-dir "$place/resources" -module-cache-path "$place/cache" \
    -swift-version 6 -parse-as-library -disable-objc-interop -plugin-path "$toolchain/host/plugins" \
    -I "$place/modules" -I "$standIns/SwiftGlibc" -I "$standIns/CNIOLinux" -I "$standIns/DarwinStatus" -I "$standIns/SQLite3" \
    -I "$root/Tests/Support/CTestVFS/include"
}

# Overwrites a module's triple in a copy of it.
copy_module() { LC_ALL=C sed "s/$linux/$3/g" "$1" >"$2"; }

# The resource folder and the modules of a floor.
prepare() {
  local floor=$1 place=$work/$1 triple module name folder kind
  triple=$(triple_of "$floor")
  folder=$place/resources/$(folder_of "$floor")
  mkdir -p "$place/modules" "$folder"
  for name in clang apinotes; do ln -s "$toolchain/$name" "$place/resources/$name"; done
  # The headers of Linux are not those of Apple: the C modules that lead to them are empty here.
  cp -R "$toolchain/shims" "$place/resources/shims"
  sed -i.bak '/LibcOverlayShims.h/,/export/d' "$place/resources/shims/module.modulemap"
  for name in $empty; do
    printf 'module %s {}\n' "$name" >>"$place/resources/shims/module.modulemap"
  done
  for module in "$toolchain"/linux/*.swiftmodule; do
    name=$(basename "$module" .swiftmodule)
    case "$name" in Foundation | FoundationNetworking | FoundationXML | Dispatch | Glibc | XCTest) continue ;; esac
    mkdir -p "$folder/$name.swiftmodule"
    # A compiled module, or else its interface, which the compiler compiles.
    for kind in swiftmodule swiftinterface; do
      [ -f "$module/$linux.$kind" ] || continue
      copy_module "$module/$linux.$kind" "$folder/$name.swiftmodule/$(sed 's/[0-9.]*$//; s/macosx/macos/' <<<"$triple").$kind" "$triple"
      break
    done
  done
  for name in $packages; do copy_module "$built/$name.swiftmodule" "$place/modules/$name.swiftmodule" "$triple"; done
  for name in Glibc CoreFoundation Darwin Dispatch Security CFNetwork Foundation Network WebKit NIOTransportServices XCTest; do
    case "$floor.$name" in watchos*.NIOTransportServices | watchos*.WebKit | tvos*.WebKit) continue ;; esac
    # The enums of a framework are open: a switch over one needs an @unknown default. C has structs, and NIO is no framework.
    case "$name" in Dispatch | Foundation | CoreFoundation | Security | CFNetwork | Network | WebKit) kind=-enable-library-evolution ;; *) kind= ;; esac
    # shellcheck disable=SC2086
    compile "$floor" -emit-module $kind -experimental-skip-all-function-bodies -module-name "$name" -o "$place/modules/$name.swiftmodule" \
      -suppress-warnings "$standIns/$name"/*.swift
  done
}

# The floor whose symbols are looked at, and the libraries with a public API of their own there.
symbolFloor=ios16.0
symbolLibraries="WaylayHosts WaylayTunnel WaylayWebView"

# Checks one module, which is for those that depend on it: `check_module FLOOR MODULE FOLDER OPTION…`.
check_module() {
  local floor=$1 module=${2//-/_} folder=$3 symbols=
  if [ "$floor" = "$symbolFloor" ]; then
    mkdir -p "$work/symbols/$module"
    symbols="-emit-symbol-graph -emit-symbol-graph-dir $work/symbols/$module -symbol-graph-minimum-access-level public
      -symbol-graph-skip-synthesized-members ${WAYLAY_SYMBOLS:+-emit-extension-block-symbols}"
  fi
  # shellcheck disable=SC2086,SC2046
  compile "$floor" -emit-module -module-name "$module" -package-name waylay -o "$work/$floor/modules/$module.swiftmodule" -enable-testing "${@:4}" \
    $symbols $features -warnings-as-errors $(find -L "$folder" -name '*.swift' ! -path '*/AppleModel/*/Platform/Linux/*' | LC_ALL=C sort)
}

# The same, with what is wrong said.
check() {
  local floor=$1 module=$2 log=$work/$1.$2.log
  check_module "$@" >"$log" 2>&1 && return
  sed "s|^$root/||" "$log"
  echo "✘ $module does not compile for $floor: $(grep -cE '^[^ |]+: error: ' "$log") errors" >&2
  return 1
}

check_floor() {
  local floor=$1 library
  prepare "$floor"
  # Inlinable functions of AsyncHTTPClient do not fit as Linux has built them, and nothing that is checked needs them.
  # shellcheck disable=SC2046
  for library in $libraries; do
    check "$floor" "$library" "$sources/$library" \
      $([ "$library" != WaylayAsyncHTTPClient ] || echo -Xllvm -sil-disable-pass=mandatory-linker)
  done
  echo "✔ $(wc -w <<<"$libraries") modules compile for $floor"
  if [ "$floor" = "$symbolFloor" ]; then
    apple_listings "$floor"
    apple_api
  fi
}

# The guide's listings that are for Apple platforms alone, which Scripts/listings.sh skips on Linux.
apple_listings() {
  local listing=$work/listing.swift count=0 page text
  for page in "$root"/Documentation.docc/TrustedAddressesOnApple.md "$root"/Sources/WaylayWebView/WaylayWebView.docc/WaylayWebView.md; do
    while IFS= read -r -d '' text; do
      printf 'import Waylay\nimport WaylayTunnel\nimport WaylayWebView\nimport Network\nimport WebKit\n%s\n' "$text" >"$listing"
      compile "$1" -typecheck -module-name Listing $features "$listing" >"$work/listing.log" 2>&1 || {
        cat "$work/listing.log"
        echo "✘ a listing of $page does not compile for $1" >&2
        return 1
      }
      count=$((count + 1))
    done < <(python3 - "$page" <<'PYTHON'
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
listings = re.findall(r"(?ms)^```swift\n(.*?)^```", page)
context = re.search(r"put these lines above it:\n+```swift\n(.*?)^```", page, re.S | re.M)
bare = lambda text: re.sub(r"(?m)^ *import .*\n", "", text)
for text in listings:
    if "canImport(" in text:
        sys.stdout.write("@available(macOS 14, iOS 17, *) @MainActor func page() async throws {\n" + bare(context[1] if context else "") + bare(text) + "}\n\0")
PYTHON
    )
  done
  [ "$count" -ge 3 ] || { echo "✘ $count listings for Apple platforms: this check checks nothing" >&2; return 1; }
  echo "✔ $count listings for Apple platforms compile"
}

# What only Apple platforms have of the public API.
apple_api() {
  local library new=$work/api
  mkdir -p "$new"
  for library in $symbolLibraries; do
    "$root/Scripts/symbols.py" --own "$work/symbols/$library" "Sources/$library"
    "$root/Scripts/symbols.py" "$work/symbols/$library" "$root/Scripts/API/$library.txt" >"$new/$library.txt"
  done
  [ -z "${WAYLAY_SYMBOLS:-}" ] || { for library in $symbolLibraries; do cp -R "$work/symbols/$library" "$WAYLAY_SYMBOLS/"; done; return; }
  [ -z "$isWriting" ] || { mkdir -p "$root/Scripts/API/Apple"; cp "$new"/*.txt "$root/Scripts/API/Apple/"; }
  diff -ru "$root/Scripts/API/Apple" "$new" || {
    echo "✘ the API for Apple platforms alone is not the stored one: run Scripts/apple.sh --write ios16.0 if that is meant" >&2
    return 1
  }
  echo "✔ the API for Apple platforms alone is the stored one: $(cat "$new"/*.txt | wc -l) lines"
}

# One of what is checked for macOS alone, as `rest` names it, or a folder of tests.
check_one() {
  local floor=$1 entry=$2 folder=${2#*=} kind=
  [ "$folder" != "$entry" ] || folder=$sources/$entry
  [ "${entry%=*}" != AppleCore ] || kind="-D WAYLAY_APPLE_MODEL"
  # Inlinable functions of some packages do not fit as Linux has built them, and nothing that is checked needs them.
  # shellcheck disable=SC2086
  check "$floor" "${entry%=*}" "$folder" -Xllvm -sil-disable-pass=mandatory-linker $kind
}

# The program, the examples and the tests.
check_rest() {
  local entry tests
  for entry in $rest; do check_one "$1" "$entry"; done
  # Those of the manifest; nothing depends on them.
  tests=$(Scripts/manifest.py tests | sed 's|.*|&=Tests/&|')
  xargs -P 2 -I ENTRY bash -euo pipefail -c "check_one $1 ENTRY" <<<"$tests"
  echo "✔ the program, the examples and the tests compile for $1: $(wc -w <<<"$rest $tests") modules"
}

# shellcheck source=Tests/StandIns/Apple/mistakes.sh
source "$standIns/mistakes.sh"

echo "Type-checking for: ${floors//$'\n'/ }"
first=${floors%% *}
check_floor "$first"
known_mistakes "$first"
# The others on two cores.
export -f check_floor check_one check check_module apple_listings apple_api prepare compile copy_module folder_of triple_of
export root sources built standIns symbolFloor symbolLibraries isWriting libraries packages empty work toolchain linux features
case "$first" in macosx*) check_rest "$first" ;; esac
others=$(tr ' ' '\n' <<<"$floors" | sed 1d)
[ -z "$others" ] || xargs -P 2 -I FLOOR bash -euo pipefail -c 'check_floor FLOOR' <<<"$others"
# The targets of the manifest that no list above has.
missing=$({ Scripts/manifest.py modules; Scripts/manifest.py programs; } |
  grep -vxF "$(printf '%s\n' $libraries $rest | sed 's/=.*//')" | tr '\n' ' ' || true)
echo "Not checked: visionOS and Mac Catalyst, whose versions come from their SDKs; what a package has for Apple alone; $missing"
