#!/usr/bin/env bash
# Builds the fuzz targets and gives each of them, or those that are named, so many made-up inputs. Stops at the first that finds something.
#
#   Scripts/fuzz.sh 1000000
#   Scripts/fuzz.sh 1000000 heads hosts
set -euo pipefail
cd "$(dirname "$0")/../Fuzz"
inputs=${1:-1000000}
shift || true
targets=("$@")
[ $# -gt 0 ] || targets=(archive cookies dns files har heads hosts ranges)
# The package is built for it: with libFuzzer and the address sanitizer, and for @testable import.
export WAYLAY_FUZZ=1
swift build -c release
# Foundation keeps what it makes once. To remember where each byte was allocated costs a quarter of the time: run a find again without that, to
# see it. A backtrace of Swift's would wait for the fuzzer, and the fuzzer for it.
export ASAN_OPTIONS="detect_leaks=0:malloc_context_size=0:quarantine_size_mb=8${ASAN_OPTIONS:+:$ASAN_OPTIONS}" SWIFT_BACKTRACE=enable=no
for target in "${targets[@]}"; do
  printf '\n── %s\n' "$target"
  mkdir -p "Corpus/$target"
  .build/release/"$target" "Corpus/$target" "Seeds/$target" -max_len=1024 -runs="$inputs" -artifact_prefix="crash-$target-" 2>&1 |
    grep -aE '^Done|ERROR|SUMMARY|Fatal|Test unit written'
done
