#!/usr/bin/env bash
# Measures what each product costs a package that uses nothing else: processor seconds of a first debug build (user and
# system, so that a busy machine changes little; two idle cores take a little over half of that), packages that are
# fetched, and the size of their checkouts. Prints a table; progress goes to stderr. All of
# it takes some ten minutes on two cores.
#
#   Scripts/weight.sh                          all of them
#   Scripts/weight.sh WaylayMocks Waylay       some of them
#   WAYLAY_WEIGHT_KEEP=DIR Scripts/weight.sh   leaves the packages there, with what they have built
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
place=${WAYLAY_WEIGHT_KEEP:-$(mktemp -d)}
mkdir -p "$place"
[ -n "${WAYLAY_WEIGHT_KEEP:-}" ] || trap 'rm -rf "$place"' EXIT

# What for, the product, and the trait that it needs, if any.
rows=(
  'mock the network in tests|WaylayTesting|'
  'mock it in an app, a preview or a demo|WaylayMocks|'
  'write an interceptor, and nothing else|WaylayCore|'
  'read offline; cache on Linux|WaylayArchive|'
  'the same, encrypted|WaylayArchive|Cryptography'
  'connect to addresses I trust|WaylayHosts|'
  'the same, from signed lists|WaylayHosts|Cryptography'
  'see, search and export traffic|WaylayInspector|'
  'see it live in a browser|WaylayInspectorServer|InspectorServer'
  'read, redact and write HTTP archives (HAR)|WaylayHAR|'
  'core, mocks, archive and hosts by one import|Waylay|'
  'the same, with encryption and signed lists|Waylay|Cryptography'
)

echo '| I want to … | product | trait | processor seconds | packages | megabytes |'
echo '|---|---|---|---|---|---|'
number=0
for row in "${rows[@]}"; do
  number=$((number + 1))
  IFS='|' read -r purpose product traits <<<"$row"
  [ $# -eq 0 ] || [[ " $* " == *" $product "* ]] || continue
  printf '%s, %s of %s …\n' "$product${traits:+ with $traits}" "$number" "${#rows[@]}" >&2
  package=$place/$product${traits:+-$traits}
  rm -rf "$package"
  mkdir -p "$package/Sources/App"
  case $traits in
    '') list= shown=none ;;
    *) list=", traits: [\"$traits\"]" shown="\`$traits\`" ;;
  esac
  cat >"$package/Package.swift" <<MANIFEST
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "app",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "waylay", path: "$root"$list)],
  targets: [.target(name: "App", dependencies: [.product(name: "$product", package: "waylay")])])
MANIFEST
  echo "import $product" >"$package/Sources/App/App.swift"
  swift package --package-path "$package" resolve >"$package.log" 2>&1 || { cat "$package.log" >&2; exit 1; }
  TIMEFORMAT='%U %S'
  { time swift build --package-path "$package" >"$package.log" 2>&1; } 2>"$package.time" ||
    { tail -30 "$package.log" >&2; exit 1; }
  seconds=$(awk '{ printf "%.0f", $1 + $2 }' "$package.time")
  count=$(find "$package/.build/checkouts" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | wc -l)
  size=$(du -sm "$package/.build/checkouts" 2>/dev/null | cut -f1 || true)
  printf '| %s | `%s` | %s | %s | %s | %s |\n' "$purpose" "$product" "$shown" "$seconds" "$count" "${size:-0}"
  [ -n "${WAYLAY_WEIGHT_KEEP:-}" ] || rm -rf "$package"
done
