#!/usr/bin/env bash
# Resolves the package with the lowest version of each dependency that Package.swift allows, in a copy, and builds it: whether `from:` says too little.
#
#   Scripts/lowest.sh [argument of swift build …]
#
# WAYLAY_FROM="swift-nio=2.90.0 …" tries others than those of the manifest, so that they can be lowered by evidence.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/.build/lowest
mkdir -p "$work"
find "$work" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
git archive HEAD | tar x -C "$work"
cd "$work"
for each in ${WAYLAY_FROM:-}; do sed -i.bak "s#\(/${each%=*}\", from: \)\"[^\"]*\"#\1\"${each#*=}\"#" Package.swift; done
sed -i.bak 's/", from: "/", exact: "/' Package.swift
swift package --enable-all-traits resolve
python3 - <<'PYTHON'
import json, re

wanted = dict(re.findall(r'/([^/"]+)", exact: "([^"]+)"', open("Package.swift", encoding="utf-8").read()))
found = {pin["identity"]: pin["state"]["version"] for pin in json.load(open("Package.resolved", encoding="utf-8"))["pins"]}
assert wanted and all(found.get(name, version) == version for name, version in wanted.items()), (wanted, found)
print(*(f"{name} {found[name]}" for name in sorted(found)), sep="\n")
PYTHON
swift build --enable-all-traits "$@"
