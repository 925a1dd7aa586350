#!/usr/bin/env bash
# What a package that depends on this one resolves: with no trait four packages, and with each trait and with all of them what it guards besides.
# Makes a package for each case, which uses every product, and counts its checkouts. Fails when one is there that was not promised, or is missing.
#
#   Scripts/dependents.sh
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

always="swift-collections swift-http-types swift-log xctest-dynamic-overlay"
declare -A guarded=(
  [AsyncHTTPClient]="async-http-client swift-algorithms swift-asn1 swift-async-algorithms swift-atomics swift-certificates swift-configuration swift-crypto
    swift-distributed-tracing swift-http-structured-headers swift-nio swift-nio-extras swift-nio-http2 swift-nio-ssl swift-nio-transport-services
    swift-numerics swift-service-context swift-service-lifecycle swift-system"
  [Cryptography]="swift-asn1 swift-crypto"
  [InspectorServer]="swift-atomics swift-nio swift-system"
  [Metrics]="swift-metrics"
  [StructuredFields]="swift-http-structured-headers"
  [Tracing]="swift-distributed-tracing"
  [Tunnel]="swift-atomics swift-nio swift-nio-transport-services swift-system"
  [CommandLineTool]="swift-argument-parser swift-asn1 swift-atomics swift-crypto swift-nio swift-nio-transport-services swift-system"
)
# What the manifest says and what is written here are the same traits.
declared=$(Scripts/manifest.py traits | sort | xargs)
known=$(printf '%s\n' "${!guarded[@]}" | sort | xargs)
[ "$declared" = "$known" ] || { echo "Package.swift has the traits $declared, and this script knows $known" >&2; exit 1; }
products=$(Scripts/manifest.py libraries)

failures=0
resolve() {
  local name=$1 list=$2 expected=$3 found package=$work/$1
  mkdir -p "$package/Sources/App"
  : >"$package/Sources/App/App.swift"
  {
    printf '// swift-tools-version: 6.2\nimport PackageDescription\n\nlet package = Package(name: "app", platforms: [.macOS(.v13)],\n'
    printf '  dependencies: [.package(name: "waylay", path: "%s"%s)],\n  targets: [.target(name: "App", dependencies: [\n' "$root" "$list"
    for product in $products; do printf '    .product(name: "%s", package: "waylay"),\n' "$product"; done
    printf '  ])])\n'
  } >"$package/Package.swift"
  swift package --package-path "$package" resolve >"$package.log" 2>&1 || { cat "$package.log" >&2; exit 1; }
  found=$(ls "$package/.build/checkouts" | LC_ALL=C sort | xargs)
  expected=$(xargs -n1 <<<"$expected" | LC_ALL=C sort -u | xargs)
  if [ "$found" = "$expected" ]; then
    echo "$name: $(wc -w <<<"$found") packages: $found"
  else
    printf '%s: resolves %s\n  and should resolve %s\n' "$name" "$found" "$expected" >&2
    failures=$((failures + 1))
  fi
}

resolve "no trait" "" "$always"
[ "$(wc -w <<<"$always")" -eq 4 ]
all=$always
for trait in $known; do
  resolve "$trait" ", traits: [\"$trait\"]" "$always ${guarded[$trait]}"
  all+=" ${guarded[$trait]}"
done
resolve "all traits" ", traits: [$(sed 's/\([A-Za-z]*\)/"\1",/g' <<<"$known")]" "$all"
[ "$failures" -eq 0 ]
