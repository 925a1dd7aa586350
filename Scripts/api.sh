#!/usr/bin/env bash
# The public API as Linux builds it, one declaration or conformance a line, is stored in Scripts/API: what a change does to it is seen in the change. Fails when the
# code says something else, and on a break with the newest release, which swift package diagnose-api-breaking-changes finds.
#
#   Scripts/api.sh [TAG]
#   Scripts/api.sh --write    stores the API of the code, as it was last built
#   WAYLAY_API_BREAKS=allowed Scripts/api.sh    reports breaks, and passes: for the change that raises the version
set -euo pipefail
cd "$(dirname "$0")/.."
stored=Scripts/API
# The compilers of other versions write some declarations otherwise.
compiler=6.3
libraries=$(Scripts/manifest.py libraries | grep -vxE "Waylay|WaylayWebView")

# Writes a file for each library to a folder.
dump() {
  local maps=() map library triple
  for map in .build/debug/*.build/module.modulemap .build/checkouts/*/{Sources/*,*}/include/module.modulemap; do
    [ ! -f "$map" ] || maps+=(-Xcc "-fmodule-map-file=$map")
  done
  triple=$(swift -print-target-info | sed -n 's/^ *"triple": "\(.*\)",/\1/p' | head -1)
  for library in $libraries; do
    [ -f ".build/debug/Modules/$library.swiftmodule" ] || { echo "$library has not been built: run swift build --enable-all-traits" >&2; exit 2; }
    mkdir "$work/$library"
    # What is public in the base is the API of WaylayHAR.
    base=()
    [ "$library" != WaylayHAR ] || base=(-experimental-allowed-reexported-modules=WaylayBase)
    swift symbolgraph-extract -module-name "$library" -I .build/debug/Modules "${maps[@]}" -target "$triple" -output-dir "$work/$library" \
      -minimum-access-level public -skip-synthesized-members ${base[@]+"${base[@]}"} >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    Scripts/symbols.py "$work/$library" >"$1/$library.txt"
  done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "${1:-}" = --write ]; then
  rm -f "$stored"/*.txt
  dump "$stored"
  wc -l "$stored"/*.txt | tail -1
  exit
fi
if ! command -v python3 >/dev/null || [ "$(uname)" != Linux ] || ! swift --version 2>/dev/null | grep -q "Swift version $compiler"; then
  echo "Not compared with $stored: that needs Linux, Swift $compiler and python3."
else
  mkdir "$work/new"
  dump "$work/new"
  # What only Apple platforms have, Scripts/apple.sh compares.
  diff -u -x Apple "$stored" "$work/new" || {
    echo "The public API is not the one that $stored has: run Scripts/api.sh --write if that is meant, and say in CHANGELOG.md what a user has to do." >&2
    exit 1
  }
  echo "The public API is the one that $stored has: $(cat "$stored"/*.txt | wc -l) declarations and conformances."
fi

tag=${1:-$(git tag --list '[0-9]*.[0-9]*.[0-9]*' --sort=-version:refname | head -1)}
if [ -z "$tag" ]; then
  echo "There is no release to look for breaks with yet."
  exit
fi
products=()
for library in Waylay WaylayWebView $libraries; do products+=(--products "$library"); done
# With flags of its own the package could not be a baseline.
unset WAYLAY_STRICT
if ! swift package diagnose-api-breaking-changes "$tag" "${products[@]}"; then
  [ "${WAYLAY_API_BREAKS:-}" = allowed ] || { echo "The API is not that of $tag: see API stability in CONTRIBUTING.md." >&2; exit 1; }
  echo "Breaks since $tag are allowed here."
fi
