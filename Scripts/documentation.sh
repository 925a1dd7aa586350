#!/usr/bin/env bash
# Builds the documentation of every library with warnings as errors, and prints how much of the public interface is documented. Fails below 100 %.
set -euo pipefail
cd "$(dirname "$0")/.."
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
for target in WaylayCore WaylayArchive WaylayHAR WaylayHosts WaylayInspector WaylayInspectorServer WaylayMocks WaylayTesting Waylay; do
  swift package --allow-writing-to-directory "$output" generate-documentation --target "$target" --warnings-as-errors \
    --experimental-skip-synthesized-symbols --experimental-documentation-coverage --coverage-summary-level detailed \
    --output-path "$output/$target.doccarchive" >"$output/log" 2>&1 || { cat "$output/log"; exit 1; }
  # A line a page: name, kind, whether it is documented. Modules, groups and what other modules declare are not ours to document, and the
  # projection ($current) that @TaskLocal makes of a documented property can carry no comment.
  awk -F ' *[|] *' -v target="$target" '
    $1 ~ /^\$/ { next }
    NF < 6 || ($3 != "true" && $3 != "false") || $2 ~ /^(Module|Extended .*|CollectionGroup|Article)$/ { next }
    { all += 1 }
    $3 == "true" { documented += 1; next }
    { print target ": not documented: " $1 " (" $NF ")" }
    END {
      if (all) printf "%s: %d of %d public declarations documented (%.1f %%)\n", target, documented, all, 100 * documented / all
      else print target ": documentation built; no declarations of its own"
      exit documented < all
    }' "$output/log"
done
