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

command -v python3 >/dev/null || { echo "The checks need python3." >&2; exit 2; }

step "House rules"
# `forbid PATTERN ADVICE PATH…`
forbid() {
  if git grep -nIE "$1" -- "${@:3}"; then
    echo "$2"
    exit 1
  fi
}
forbid '^ *#(if|elseif) .*\b(os\(|canImport\(|CORELIBS_FOUNDATION)' "move these to a Platform/ folder" 'Sources/*.swift' ':!Sources/*/Platform/*'
# Which Foundation there is, Package.swift says alone.
forbid '^ *#(if|elseif).*(canImport\(Foundation|os\((Android|Windows)\))' "use CORELIBS_FOUNDATION" 'Sources/*.swift'
# Foundation's Process reads beyond its buffer where many descriptors are open (U18).
forbid '\bProcess\(\)' "start programs by TestSupport's Program" 'Tests/*.swift' ':!Tests/Harnesses'
forbid '\b[PU][0-9]{1,2}\b' "say what happens to users, without the number of the fact" README.md Documentation.docc
# A test that awaits the end of a process keeps one of the threads of tasks, and there are as many of them as processors.
if git grep -lE 'processExitsWith' -- 'Tests/*.swift' | xargs grep -LE '\.exitTest' | grep .; then
  echo "give their tests the trait .exitTest: one at a time"
  exit 1
fi

step "Pages: spelling and style, links, the lists made from the code, the Inspector's page and its pictures"
Scripts/prose.py
Scripts/pages.py --check
Scripts/troubleshooting.py --check
Scripts/page.sh --check
Scripts/screenshots.sh --check

step "Privacy manifests"
Scripts/privacy.py

step "Format"
# The stand-ins are declared as the headers are that they stand in for.
find Package.swift Sources Tests Examples Benchmarks/Sources Benchmarks/Benchmarks -name '*.swift' ! -path 'Tests/StandIns/*' -print0 |
  xargs -0 swift format lint --strict --parallel

step "Build"
swift build --enable-all-traits --build-tests

step "Apple platforms, Android and musl, type-checked"
Scripts/apple.sh
Scripts/platforms.sh

step "What users can write: the examples with what is public, and listings as they stand"
Scripts/doors.sh
Scripts/listings.sh

step "The road of a request is the one of CONTRIBUTING.md"
if [ "$(uname)" = Linux ] && command -v gdb >/dev/null; then Scripts/walk.sh --check; else echo "Not checked: there is no gdb."; fi

step "What a dependent resolves, and the examples that can be copied out"
Scripts/dependents.sh
Scripts/examples.sh

step "The public API is the stored one, without breaks since the last release"
Scripts/api.sh

step "swift run --enable-all-traits tour"
swift run --enable-all-traits tour

step "swift test --enable-all-traits"
output=$(mktemp)
trap 'rm -f "$output"' EXIT
# The tests themselves hash as a user's program does.
env -u SWIFT_DETERMINISTIC_HASHING Scripts/tests.sh "$output" --skip-build

step "Planted secrets"
Scripts/secrets.sh "$output"

step "A release can be made: resolved, built, its bill of materials, notes and documentation"
Scripts/release.py make .build/published

echo
echo "All checks passed."
