#!/usr/bin/env bash
# Type-checks each Swift listing of the pages that promise it (below) alone, as somebody else's file: what compiles here compiles for a
# reader who copies it, with no context that is not in the listing. Prints the place of each that does not.
#
#   Scripts/listings.sh          after swift build
#   Scripts/listings.sh PAGE…    these pages alone
set -euo pipefail
cd "$(dirname "$0")/.."
pages=("$@")
[ $# -gt 0 ] || pages=(README.md Documentation.docc/{Cookbook,FAQ,Logging,OtherLibraries}.md Sources/*/*.docc/*.md)
modules=$PWD/.build/debug/Modules
[ -f "$modules/WaylayTesting.swiftmodule" ] || { echo "run swift build --build-tests first" >&2; exit 2; }
flags=(-typecheck -swift-version 6 -warnings-as-errors -I "$modules")
for map in "$PWD"/.build/debug/*.build/module.modulemap "$PWD"/.build/checkouts/*/{Sources/*,*}/include/module.modulemap; do
  [ -f "$map" ] && flags+=(-Xcc "-fmodule-map-file=$map")
done
plugins=$(dirname "$(dirname "$(command -v swiftc)")")/lib/swift/host/plugins/testing
[ ! -d "$plugins" ] || flags+=(-plugin-path "$plugins")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for page in "${pages[@]}"; do
  # One file for each listing, named by page and line.
  awk -v prefix="$work/$(basename "$page" .md)" '
    /^```swift$/ { file = sprintf("%s-%04d.swift", prefix, NR); printf "" >file; next }
    /^```$/ { if (file) close(file); file = ""; next }
    file { print >file }' "$page"
done

check() {
  # A manifest is no program of the library. What declares tests is no script.
  ! grep -q '^// Package.swift' "$1" || return 0
  local mode=()
  ! grep -qE '@Test|@Suite|XCTestCase|@main' "$1" || mode=(-parse-as-library)
  swiftc "${flags[@]}" "${mode[@]}" "$1" >"$1.log" 2>&1 || { sed "s|$work/||" "$1.log"; return 1; }
}

# It has to be able to fail.
printf 'import Waylay\nlet archive = ArchiveCache(at: directory)\n' >"$work/fails.txt"
cp "$work/fails.txt" "$work/fails.check.swift"
if check "$work/fails.check.swift" >"$work/log" || ! grep -q "cannot find 'directory'" "$work/log"; then
  cat "$work/log"
  echo "a listing that needs more than it says was taken: this check checks nothing" >&2
  exit 1
fi
rm "$work/fails.check.swift"

failures=0 count=0
for listing in "$work"/*.swift; do
  count=$((count + 1))
  check "$listing" || failures=$((failures + 1))
done
[ "$failures" -eq 0 ] || { echo "$failures of $count listings do not compile alone" >&2; exit 1; }
echo "$count listings compile as they stand"
