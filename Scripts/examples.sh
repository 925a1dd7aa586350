#!/usr/bin/env bash
# Builds and tests each package of Examples as a reader has it who copied the folder: elsewhere, with the checkout as its dependency.
#
#   Scripts/examples.sh          all
#   Scripts/examples.sh NAME…    these
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD work=$PWD/.build/examples
# They share what they build of this package. A package with the flags of the strict build could not be depended on.
unset WAYLAY_STRICT
export SWIFT_DETERMINISTIC_HASHING=1
[ $# -gt 0 ] || set -- $(find Examples -mindepth 2 -maxdepth 2 -name Package.swift | cut -d/ -f2 | sort)
for name in "$@"; do
  copy=$work/$name
  mkdir -p "$copy"
  rm -rf "${copy:?}"/*
  cp -Rp "Examples/$name/." "$copy"
  # The dependency on the checkout, or after a release on that release.
  sed -i.bak -E "s#\.package\((name: \"waylay\", path: \"\.\./\.\.\"|url: \"[^\"]*/waylay\", from: \"[^\"]*\")\)#.package(name: \"waylay\", path: \"$root\")#" \
    "$copy/Package.swift"
  grep -qF "path: \"$root\"" "$copy/Package.swift" || { echo "Examples/$name/Package.swift has no dependency on waylay" >&2; exit 1; }
  start=$SECONDS
  swift test --package-path "$copy" --scratch-path "$work/build" >"$copy.log" 2>&1 || { cat "$copy.log" >&2; exit 1; }
  echo "$name: $(grep -oE 'Test run with .* passed' "$copy.log" | tail -1) after $((SECONDS - start)) s"
done
