#!/usr/bin/env bash
# The long runs: what `swift test` does in small, at full size. All of them, or those that are named:
#
#   Scripts/nightly.sh
#   Scripts/nightly.sh hostile fuzz
#
# One function for each job. To add one, write the function and put its name into `jobs`.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=(deep whole hostile fuzz exits hosts store_faults store_rot archive_torture sizes har_reader apple_mutants schedules remote)

# A thousand launches with a stub for the first request, 50 000 mutated messages of door and JSON-RPC, all names of the redaction corpus; and a
# release build has no listener of ours.
remote() {
  # Alone: 64 apps at once leave no other one the time in which a control calls it stopped.
  WAYLAY_LAUNCHES=1000 swift test --enable-all-traits --filter RemoteControlTests.launches
  WAYLAY_WHOLE=1 swift test --enable-all-traits --filter WaylayRemoteTests
  swift build --enable-all-traits -c release --product waylay
  WAYLAY_WHOLE=1 WAYLAY_PROGRAMS=$PWD/.build/release swift test --enable-all-traits --filter MCPTests
  swift build --enable-all-traits -c release --product remote-control
  local symbols
  symbols=$(nm .build/release/remote-control)
  grep -q 12WaylayRemote <<<"$symbols"
  ! grep -E '21WaylayInspectorServer|12WaylayRemote(8Listener|11DoorHandler|9DoorCalls|10MockServer)' <<<"$symbols"
}

# All tests under both sanitizers.
deep() { Scripts/check.sh --deep; }

# The tests whose size bounds a run, at full size.
whole() { WAYLAY_WHOLE=1 swift test --enable-all-traits; }

# 100 000 exchanges with a server that makes its responses up. WAYLAY_FUZZ_SEED chooses the seed.
hostile() {
  swift build --enable-all-traits -c release --product stress
  .build/release/stress hostile --exchanges "${WAYLAY_NIGHTLY_EXCHANGES:-100000}"
}

# Ten million inputs for each parser of outside data.
fuzz() { Scripts/fuzz.sh "${WAYLAY_NIGHTLY_INPUTS:-10000000}"; }

# 10 000 processes that end while connections with TLS are open, of each kind of end.
exits() {
  swift build --enable-all-traits --product exits
  .build/debug/exits --runs "${WAYLAY_NIGHTLY_EXITS:-10000}"
}

# Every cell of the matrix of hijackers, a thousand requests at once behind five of them, and ten thousand races that are cancelled.
hosts() {
  WAYLAY_CROWD=1000 swift test --enable-all-traits --filter CrowdTests.fiveFirst
  WAYLAY_HIJACK_MATRIX=full swift test --enable-all-traits --filter HijackMatrixTests
  WAYLAY_CANCELLED_RACES=10000 swift test --enable-all-traits --filter CurlProcessTests.cancelledRaces
}

# Each call to the system under the store fails with everything it can fail with, for SQLite's files too; kills and losses of power at
# every call. Another seed each night.
store_faults() {
  WAYLAY_FAULTS=all WAYLAY_SEED=${WAYLAY_SEED:-$(date +%Y%m%d)} swift test --enable-all-traits --filter WaylayArchiveTests.FaultTests
}

# Every byte flipped, volumes of 22 sizes (as root), removed bytes looked for in 60 lives, ten thousand overlapping schedules.
store_rot() {
  WAYLAY_WHOLE=1 swift test --enable-all-traits --filter 'WaylayArchiveTests.(RotTests|FullDiskTests|GoneTests|OverlapTests)'
}

# A thousand kills of one, two and four processes on one archive, 200 within a flush, and 200 within a removal.
archive_torture() {
  swift build --enable-all-traits -c release --product archive-torture
  .build/release/archive-torture --kills 1000
  .build/release/archive-torture --kills 200 --work flush
  .build/release/archive-torture --kills 200 --work removal
}

# An inspector with a million exchanges, one that sees 10 GiB of bodies, and the tool with an archive of 100 MB.
sizes() {
  swift build --enable-all-traits -c release --product inspector-sizes
  .build/release/inspector-sizes search
  .build/release/inspector-sizes bodies
  swift build --enable-all-traits -c release --product waylay
  WAYLAY_TOOL_MEGABYTES=100 WAYLAY_PROGRAMS=$PWD/.build/release swift test --enable-all-traits --filter HARCommandTests.large
}

# An archive of an inspector in a reader of others, which comes from PyPI.
har_reader() {
  local folder
  folder=$(mktemp -d)
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet haralyzer
  WAYLAY_PYTHON="$folder/bin/python" swift test --enable-all-traits --filter IndependentReaderTests
  rm -rf "$folder"
}

# Twenty mistakes in the Apple half, each of which its model has to find.
apple_mutants() { python3 Tests/AppleModel/mutants.py; }

# 10 000 schedules of all interceptors, in the orders that registration allows. Other seeds each night.
schedules() {
  WAYLAY_SCHEDULES=10000 WAYLAY_SEED=${WAYLAY_SEED:-$(date +%Y%m%d)0000} swift test --enable-all-traits --filter DoorTests.ScheduleTests
}

for job in "${@:-${jobs[@]}}"; do
  printf '\n── %s\n' "$job"
  declare -F "$job" >/dev/null || { echo "there is no job \"$job\": there are ${jobs[*]}"; exit 2; }
  "$job"
done
