#!/usr/bin/env bash
# Measures what each product costs a package that uses nothing else: seconds of a first debug build, packages that are fetched, and the size
# of their checkouts. Prints rows of the README's table. Takes some minutes; the figures are those of a machine that does nothing else.
#
#   Scripts/weight.sh
#   Scripts/weight.sh WaylayMocks WaylayArchive
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
products=("$@")
[ $# -gt 0 ] || mapfile -t products < <(sed -n 's/.*\.library(name: "\(Waylay[A-Za-z]*\)".*/\1/p' Package.swift)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

for product in "${products[@]}"; do
  printf '%s …\n' "$product" >&2
  package=$place/$product
  mkdir -p "$package/Sources/App"
  cat >"$package/Package.swift" <<MANIFEST
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "app",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "waylay", path: "$root")],
  targets: [.target(name: "App", dependencies: [.product(name: "$product", package: "waylay")])])
MANIFEST
  echo "import $product" >"$package/Sources/App/App.swift"
  swift package --package-path "$package" resolve >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
  began=$(date +%s)
  swift build --package-path "$package" >"$place/log" 2>&1 || { tail -30 "$place/log"; exit 1; }
  seconds=$(($(date +%s) - began))
  count=$(find "$package/.build/checkouts" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | wc -l)
  size=$(du -sm "$package/.build/checkouts" 2>/dev/null | cut -f1)
  printf '| `%s` | %s s | %s | %s MB |\n' "$product" "$seconds" "$count" "${size:-0}"
  rm -rf "$package"
done
