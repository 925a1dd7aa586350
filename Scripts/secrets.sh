#!/usr/bin/env bash
# Searches what a run of all tests has printed for secrets that tests have planted, and makes sure that the run has searched all that was logged.
#
#   Scripts/tests.sh output; Scripts/secrets.sh output
#
# The search of log lines, events, descriptions and errors is in Tests/Support/TestSupport/Recording.swift, in the process itself: this one is for the bytes
# that come out of it by themselves, and for a run in which that search does not happen.
set -euo pipefail
cd "$(dirname "$0")/.."
output=${1:?which file?}
# Fewer texts than a run of all tests has are those of one in which hardly anything was recorded.
least=${WAYLAY_LEAST_TEXTS:-5000}
mark=$(sed -n 's/.*static let mark = "\(.*\)"/\1/p' Tests/Support/TestSupport/Recording.swift)
[ -n "$mark" ] || { echo "Recording.swift has no mark"; exit 2; }

find_mark() { grep -anF "$mark" "$1" || [ $? -eq 1 ]; }

# It finds what there is to find: across bytes that are no text too.
planted=$(mktemp)
trap 'rm -f "$planted"' EXIT
printf 'a line\n\000\377 Authorization: Bearer %s-token\n' "$mark" >"$planted"
[ "$(find_mark "$planted" | wc -l)" -eq 1 ] || { echo "the search does not find a planted secret"; exit 2; }

texts=$(sed -n 's/.*searched \([0-9]*\) recorded texts for planted secrets: none was found\..*/\1/p' "$output" | sort -n | tail -1)
if [ "${texts:-0}" -lt "$least" ]; then
  echo "the tests have searched ${texts:-0} texts for planted secrets, and should have searched $least at least"
  exit 1
fi
finds=$(find_mark "$output")
if [ -n "$finds" ]; then
  echo "planted secrets in what the tests print:"
  echo "$finds"
  exit 1
fi
echo "No planted secret in $(wc -c <"$output") bytes of output and $texts recorded texts."
