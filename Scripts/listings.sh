#!/usr/bin/env bash
# Type-checks each Swift listing of the README and the guide, as somebody else's file: what compiles here compiles for a reader who copies
# it, with no context that is not on the page. A page whose listings go on from each other says once what they start from, in a listing
# behind the line "To try a listing of this page, put these lines above it:"; the others compile alone, with what they import. Prints the place of each
# that does not.
#
#   Scripts/listings.sh          after swift build --enable-all-traits --build-tests
#   Scripts/listings.sh PAGE…    these pages alone
set -euo pipefail
cd "$(dirname "$0")/.."
pages=("$@")
[ $# -gt 0 ] || pages=(README.md Documentation.docc/*.md Sources/*/*.docc/*.md)
modules=$PWD/.build/debug/Modules
[ -f "$modules/WaylayTesting.swiftmodule" ] || { echo "run swift build --enable-all-traits --build-tests first" >&2; exit 2; }
flags=(-typecheck -swift-version 6 -I "$modules")
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
    /^```swift$/ { file = isContext ? prefix ".context" : sprintf("%s-%04d.swift", prefix, NR); printf "" >file; next }
    /^```$/ { if (file) { close(file); isContext = 0 }; file = ""; next }
    file { print >file }
    /^To try a listing of this page, put these lines above it:$/ { isContext = 1 }' "$page"
done

test='@Test|@Suite|XCTestCase|@main'
# A line of a listing that does nothing but declare.
declaration='^((public )?struct|final class|actor|enum|extension|func|import|@|//|\}|\)| |$)'

# The program of a listing: what its page says it starts from, and itself, in a function unless it extends types or declares tests.
program() {
  local wrap=true
  ! grep -qE "$test|^extension |^public " "$1" || wrap=false
  # News is the package that a page builds: what it declares stands on the page.
  grep -hE '^(@[a-zA-Z]+ )?import ' "$@" | grep -vx 'import News' | sort -u
  shift
  [ $# -eq 0 ] || cat "$@" | grep -vE '^(@[a-zA-Z]+ )?import '
  if $wrap; then printf 'func page() async throws {\ndo {\n'; fi
  grep -vE '^(@[a-zA-Z]+ )?import ' "$listing"
  if $wrap; then printf '}\n}\n'; fi
}

compile() {
  swiftc "${flags[@]}" "$@" >"$listing.log" 2>&1
}

check() {
  local listing=$1 page=${1%-*} mode=()
  # A manifest is no program of the library.
  ! grep -qE '^// Package.swift|^dependencies: \[' "$listing" || return 0
  if [ -f "$page.context" ]; then
    # What other listings of the page declare may be used, too.
    local declarations=()
    for other in "$page"-[0-9][0-9][0-9][0-9].swift; do
      [ "$other" = "$listing" ] || grep -qvE "$declaration" "$other" || grep -qE "$test" "$other" || declarations+=("$other")
    done
    program "$listing" "$page.context" >"$listing.program.swift"
    ! compile -suppress-warnings -parse-as-library "$listing.program.swift" || return 0
    [ ${#declarations[@]} -eq 0 ] ||
      program "$listing" "$page.context" "${declarations[@]}" >"$listing.program.swift"
    ! compile -suppress-warnings -parse-as-library "$listing.program.swift" || return 0
  else
    ! grep -qE "$test" "$listing" || mode=(-parse-as-library)
    ! compile -warnings-as-errors "${mode[@]}" "$listing" || return 0
  fi
  sed "s|$work/||" "$listing.log"
  return 1
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
for listing in "$work"/*-[0-9][0-9][0-9][0-9].swift; do
  count=$((count + 1))
  check "$listing" || failures=$((failures + 1))
done
[ "$failures" -eq 0 ] || { echo "$failures of $count listings do not compile with what is on their page" >&2; exit 1; }
echo "$count listings compile as they stand"
