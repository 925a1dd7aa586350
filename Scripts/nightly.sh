#!/usr/bin/env bash
# The long runs of harnesses that `swift test` has a sample of: hours of machines, not of people. With names of jobs only those are run.
set -euo pipefail
cd "$(dirname "$0")/.."

# Every cell of the matrix of hijackers, and ten thousand races that are cancelled.
hosts() {
  WAYLAY_HIJACK_MATRIX=full swift test --filter HijackMatrixTests
  WAYLAY_CANCELLED_RACES=10000 swift test --filter CurlProcessTests.cancelledRaces
  WAYLAY_FAILOVER_FIGURES=1 swift test --filter FailoverFigures
}

jobs=(hosts)
for job in "${@:-${jobs[@]}}"; do
  printf '\n── %s\n' "$job"
  "$job"
done
