#!/usr/bin/env bash
# The one front door for checks: what a user of the README runs, and what keeps the house in order. Continuous integration runs the same.
#
#   Scripts/check.sh          all that a change has to pass
#   Scripts/check.sh --deep   all tests under the address sanitizer, then under the thread sanitizer: two builds of their own, kept in
#                             .build-asan and .build-tsan. Runs of many hours are in Scripts/nightly.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
# Warnings are errors here, and every public type says whether it is Sendable.
export WAYLAY_STRICT=1
# SwiftPM 6.3 passes the enabled traits to the compiler in the order of a set: in another order each time, it compiles everything anew.
export SWIFT_DETERMINISTIC_HASHING=1

step() { printf '\n── %s\n' "$*"; }

if [ "${1:-}" = --deep ]; then
  # Foundation and libcurl keep what they make once; leaks are looked for by the tests that count.
  export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
  for sanitizer in address thread; do
    step "swift test under the $sanitizer sanitizer"
    swift test --enable-all-traits --sanitize="$sanitizer" --scratch-path ".build-${sanitizer:0:1}san"
  done
  echo
  echo "Both sanitizers are content."
  exit
elif [ $# -gt 0 ]; then
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
  exit 2
fi

step "Every top-level entry is known to the umbrella target"
known=$(sed -n '/name: "Waylay",/,/sources:/p' Package.swift)
for entry in $(git ls-files | cut -d/ -f1 | sort -u); do
  case "$entry" in .* | Package.swift | Sources | Documentation.docc) continue ;; esac
  grep -q "\"$entry\"" <<<"$known" || { echo "Package.swift: \"$entry\" is missing from the exclude: list of Waylay"; exit 1; }
done
for entry in Sources/*/; do
  entry=${entry%/}
  [ "$entry" = Sources/Waylay ] || grep -q "\"$entry\"" <<<"$known" ||
    { echo "Package.swift: \"$entry\" is missing from the exclude: list of Waylay"; exit 1; }
done

step "The Inspector's page is the one of its sources"
Scripts/page.sh --check

step "Pictures of the page"
if command -v python3 >/dev/null; then Scripts/screenshots.sh --check; else echo "Not checked: there is no python3."; fi

step "Platform conditions stay in Platform/"
if git grep -nE '^ *#(if|elseif) .*\b(os\(|canImport\(|CORELIBS_FOUNDATION)' -- 'Sources/*.swift' ':!Sources/*/Platform/*'; then
  echo "move these to a Platform/ folder"
  exit 1
fi

step "Which Foundation there is, Package.swift says alone"
if git grep -nE '^ *#(if|elseif).*(canImport\(Foundation|os\((Android|Windows)\))' -- 'Sources/*.swift'; then
  echo "use CORELIBS_FOUNDATION"
  exit 1
fi

step "Tests start programs by TestSupport's Program"
# Foundation's Process reads beyond its buffer where many descriptors are open (U18).
if git grep -nE '\bProcess\(\)' -- 'Tests/*.swift' ':!Tests/Harnesses'; then
  echo "use Program"
  exit 1
fi

step "Tests that await the end of a process do so one at a time"
# Each keeps one of the threads of tasks meanwhile, and there are as many of them as processors.
if git grep -lE 'processExitsWith' -- 'Tests/*.swift' | xargs grep -LE '\.exitTest' | grep .; then
  echo "give their tests the trait .exitTest"
  exit 1
fi

step "The facts of FOUNDATION.md stay out of what users read"
if git grep -nIE '\b[PU][0-9]{1,2}\b' -- README.md Documentation.docc; then
  echo "say what happens, without the number of the fact"
  exit 1
fi

step "Spelling and style of what users read"
if command -v python3 >/dev/null; then Scripts/prose.py; else echo "Not checked: there is no python3."; fi

step "Diagrams, and links between pages"
if command -v python3 >/dev/null; then Scripts/diagrams.py --check && Scripts/pages.py --check; else echo "Not checked: there is no python3."; fi

step "Troubleshooting says what the code says"
if command -v python3 >/dev/null; then Scripts/troubleshooting.py --check; else echo "Not checked: there is no python3."; fi

step "Format"
swift format lint --strict --recursive --parallel Sources Tests Examples Benchmarks/Sources Benchmarks/Benchmarks

step "Build"
swift build --enable-all-traits --build-tests

step "Apple platforms, type-checked"
Scripts/apple.sh

step "Android and musl, type-checked"
Scripts/platforms.sh

step "What users can write: the examples, with what is public"
Scripts/doors.sh

step "The road of a request is the one of CONTRIBUTING.md"
if [ "$(uname)" = Linux ] && command -v gdb >/dev/null; then Scripts/walk.sh --check; else echo "Not checked: there is no gdb."; fi

step "Listings that promise to compile as they stand"
Scripts/listings.sh

step "What a dependent resolves"
Scripts/dependents.sh

step "The public API is the stored one, without breaks since the last release"
Scripts/api.sh

step "A release can be made"
if command -v python3 >/dev/null; then Scripts/release.py --check; else echo "Not checked: there is no python3."; fi

step "swift run --enable-all-traits tour"
swift run --enable-all-traits tour

step "swift test --enable-all-traits"
output=$(mktemp)
trap 'rm -f "$output"' EXIT
# The tests themselves hash as a user's program does.
env -u SWIFT_DETERMINISTIC_HASHING Scripts/tests.sh "$output" --skip-build || {
  # A thousand tests scroll the one that failed out of sight: say it last.
  step "What failed"
  grep -aE '^✘|error: ' "$output" | grep -av 'known issue' || true
  exit 1
}

step "Planted secrets"
Scripts/secrets.sh "$output"

step "Documentation"
Scripts/documentation.sh

echo
echo "All checks passed."
