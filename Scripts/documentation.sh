#!/usr/bin/env bash
# Builds the documentation of every library with warnings as errors, and prints how much of the public interface is documented.
set -euo pipefail
cd "$(dirname "$0")/.."
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
for target in WaylayCore Waylay; do
  swift package --allow-writing-to-directory "$output" generate-documentation --target "$target" --warnings-as-errors \
    --experimental-skip-synthesized-symbols --experimental-documentation-coverage --coverage-summary-level brief --output-path "$output/$target.doccarchive"
done
