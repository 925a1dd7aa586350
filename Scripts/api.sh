#!/usr/bin/env bash
# Compares the public API with that of the newest release, by swift package diagnose-api-breaking-changes, and fails on a break. Says so, and
# passes, where there is no release yet.
#
#   Scripts/api.sh [TAG]
#   WAYLAY_API_BREAKS=allowed Scripts/api.sh    reports, and passes: for the change that raises the version
set -euo pipefail
cd "$(dirname "$0")/.."
tag=${1:-$(git tag --list '[0-9]*.[0-9]*.[0-9]*' --sort=-version:refname | head -1)}
if [ -z "$tag" ]; then
  echo "There is no release to compare with yet: skipped."
  exit
fi
products=()
for product in Waylay WaylayArchive WaylayAsyncHTTPClient WaylayCore WaylayHAR WaylayHosts WaylayInspector WaylayInspectorServer WaylayMocks
  WaylayTesting WaylayTunnel WaylayWebView; do
  products+=(--products "$product")
done
# With flags of its own the package could not be a baseline.
unset WAYLAY_STRICT
if ! swift package diagnose-api-breaking-changes "$tag" "${products[@]}"; then
  [ "${WAYLAY_API_BREAKS:-}" = allowed ] || { echo "The API is not that of $tag: see API stability in CONTRIBUTING.md." >&2; exit 1; }
  echo "Breaks since $tag are allowed here."
fi
