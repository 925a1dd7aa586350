#!/usr/bin/env bash
# `swift test --enable-all-traits`, with an end: a test that waits for ever is named, with what each thread of the process does, instead of being waited for.
#
#   Scripts/tests.sh OUTPUT [argument of swift test …]
#
# What the tests print goes to the file OUTPUT too. The run may take WAYLAY_TEST_SECONDS, 1200 by default.
set -uo pipefail
cd "$(dirname "$0")/.."
output=${1:?which file?}
shift
limit=${WAYLAY_TEST_SECONDS:-1200}

descendants() {
  local child
  for child in $(pgrep -P "$1"); do
    echo "$child"
    descendants "$child"
  done
}

# The tests then say how many texts they have searched, which Scripts/secrets.sh reads.
export WAYLAY_SEARCHED=1

: >"$output"
swift test --enable-all-traits "$@" >"$output" 2>&1 &
tests=$!
tail -n +1 -f "$output" &
shown=$!
trap 'kill "$shown" 2>/dev/null' EXIT

seconds=$limit
while kill -0 "$tests" 2>/dev/null && [ "$seconds" -gt 0 ]; do
  sleep 1
  seconds=$((seconds - 1))
done
if kill -0 "$tests" 2>/dev/null; then
  overdue=$(for process in $(descendants "$tests"); do
    case $(ps -o args= -p "$process") in *.xctest*) echo "$process" ;; esac
  done)
  for process in $overdue; do
    printf '\n── Process %s has not ended in %s seconds\n' "$process" "$limit"
    # Whoever was started by a test is only named.
    ps -o pid=,args= -p "$process" | cut -c1-200
  done
  if [ -z "$overdue" ]; then
    # Then `swift test` waits for the output of a process that a test has started and left.
    printf '\n── The tests have ended, and somebody has not\n'
    ps -eo pid=,ppid=,etime=,args= | grep -F "$PWD/.build" | grep -v grep | cut -c1-200
  fi
  # The first is the process of the tests. Not every machine lets a debugger look into it.
  for process in $overdue; do
    timeout 120 lldb -p "$process" --batch -o 'thread backtrace all' 2>&1 ||
      timeout 120 gdb -p "$process" -batch -ex 'thread apply all backtrace 20' 2>&1 || true
    break
  done
  # With the process gone, `swift test` prints what it still holds back.
  for process in $overdue; do kill -9 "$process" 2>/dev/null; done
  for _ in 1 2 3 4 5; do
    kill -0 "$tests" 2>/dev/null || break
    sleep 1
  done
  kill -9 "$tests" 2>/dev/null
  wait "$tests" 2>/dev/null
  sleep 1
  printf '\n── Tests that began and did not end\n'
  name='s/^[^T]*Test \("[^"]*"\|[a-zA-Z0-9_]*([^)]*)\).*/\1/p'
  sort -u <(grep -a '^. Test .* started\.$' "$output" | sed -n "$name") >"$output.began"
  sort -u <(grep -aE '^. Test .* (passed|failed|skipped)' "$output" | sed -n "$name") >"$output.ended"
  comm -23 "$output.began" "$output.ended"
  rm -f "$output.began" "$output.ended"
  exit 1
fi
wait "$tests"
code=$?
# What was printed last is shown before this ends; then each failure, which a thousand tests have scrolled out of sight, and the sum.
sleep 1
printf '\n'
[ "$code" -eq 0 ] || grep -aE '^✘ Test .* recorded an issue|error: ' "$output"
grep -aE '^. Test run with ' "$output" | tail -1
exit "$code"
