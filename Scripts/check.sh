#!/usr/bin/env bash
# The one front door for checks: what a user of the README runs, and what keeps the house in order. Continuous integration runs the same.
set -euo pipefail
cd "$(dirname "$0")/.."
# Warnings are errors here, and every public type says whether it is Sendable.
export WAYLAY_STRICT=1

step() { printf '\n── %s\n' "$*"; }

step "Every top-level entry is known to the umbrella target"
known=$(sed -n '/name: "Waylay",$/,/sources:/p' Package.swift)
for entry in $(git ls-files | cut -d/ -f1 | sort -u); do
  case "$entry" in .* | Package.swift | Sources | Documentation.docc) continue ;; esac
  grep -q "\"$entry\"" <<<"$known" || { echo "Package.swift: \"$entry\" is missing from the exclude: list of Waylay"; exit 1; }
done
for entry in Sources/*/; do
  entry=${entry%/}
  [ "$entry" = Sources/Waylay ] || grep -q "\"$entry\"" <<<"$known" ||
    { echo "Package.swift: \"$entry\" is missing from the exclude: list of Waylay"; exit 1; }
done

step "Platform conditions stay in Platform/"
if git grep -nE '^ *#if (os|canImport)\(' -- 'Sources/*.swift' ':!Sources/*/Platform/*'; then
  echo "move these to a Platform/ folder"
  exit 1
fi

step "Format"
swift format lint --strict --recursive --parallel Sources Tests Examples Benchmarks/Sources Benchmarks/Benchmarks

step "Build"
swift build --build-tests

step "Apple platforms, type-checked"
Scripts/apple.sh

step "swift run tour"
swift run tour

step "swift test"
output=$(mktemp)
trap 'rm -f "$output"' EXIT
swift test 2>&1 | tee "$output" || {
  # A thousand tests scroll the one that failed out of sight: say it last.
  step "What failed"
  grep -aE '^✘|error: ' "$output" | grep -av 'known issue' || true
  exit 1
}

step "Documentation"
Scripts/documentation.sh

echo
echo "All checks passed."
