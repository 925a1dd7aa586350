#!/usr/bin/env bash
# Type-checks the examples as somebody else's package would be, against what is public: what users read here, they can write.
#
# And looks whether a program that uses a product compiles what only others need: by the manifest, which is what SwiftPM goes by.
# (Scripts/dependents.sh looks at what is fetched.)
#
#   Scripts/doors.sh      after swift build --enable-all-traits
#
# It proves that it can fail: what is the package's own must not be found.
set -euo pipefail
cd "$(dirname "$0")/.."
modules=$PWD/.build/debug/Modules
[ -f "$modules/HijackLab.swiftmodule" ] || { echo "run swift build --enable-all-traits first" >&2; exit 2; }
features=$(sed -n 's/.*enableUpcomingFeature("\(.*\)").*/-enable-upcoming-feature \1/p' Package.swift)
maps=()
for map in "$PWD"/.build/debug/*.build/module.modulemap "$PWD"/.build/checkouts/*/Sources/*/include/module.modulemap; do
  [ -f "$map" ] && maps+=(-Xcc "-fmodule-map-file=$map")
done

check() {
  # shellcheck disable=SC2086
  swiftc "$@" -parse-as-library -package-name somebody -swift-version 6 $features "${maps[@]}" -I "$modules"
}

own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT
printf 'import WaylayCore\nfunc own() { _ = Promise<Int>() }\n' >"$own/Own.swift"
if check -typecheck "$own/Own.swift" >"$own/log" 2>&1; then
  echo "what is the package's own was found: this check checks nothing" >&2
  exit 1
fi
grep -q "cannot find 'Promise' in scope" "$own/log" || { cat "$own/log"; exit 1; }

for folder in Examples/*/; do
  # A package of its own has no choice (Scripts/examples.sh).
  [ ! -f "$folder/Package.swift" ] || continue
  name=$(basename "$folder")
  mapfile -t files < <(find "$folder" -name '*.swift')
  check -typecheck -module-name "${name//-/_}" "${files[@]}"
  echo "$name is written with what is public"
done

# The shelf is written as somebody else's package would be, but for the base: compiled as a part of that package, its declarations are found, and
# those of the core are not.
mapfile -t files < <(find Sources/WaylayBase -name '*.swift')
check -emit-module -module-name WaylayBase -emit-module-path "$own/WaylayBase.swiftmodule" -D CORELIBS_FOUNDATION "${files[@]}"
printf 'import WaylayCore\nfunc own() { _ = Promise<Int>(); _ = PacedBody.self }\n' >"$own/Own.swift"
! check -typecheck -I "$own" "$own/Own.swift" >"$own/log" 2>&1 && [ "$(grep -cE '^[^ |]+: error: ' "$own/log")" -eq 1 ] &&
  grep -q "cannot find 'PacedBody' in scope" "$own/log" || { cat "$own/log"; echo "the shelf could use what is the core's own" >&2; exit 1; }
mapfile -t files < <(find Sources/WaylayInterceptors -name '*.swift')
check -typecheck -I "$own" -module-name WaylayInterceptors -D Metrics -D Tracing "${files[@]}"
echo "WaylayInterceptors is written with the base and what is public"

swift package dump-package | python3 -c '
import json, sys

package = json.load(sys.stdin)
targets = {target["name"]: target for target in package["targets"]}

def needed(name):
    """The targets and products of other packages that a target is compiled with."""
    found, rest = set(), [name]
    while rest:
        name = rest.pop()
        if name in found:
            continue
        found.add(name)
        for dependency in targets.get(name, {"dependencies": []})["dependencies"]:
            kind, parts = next(iter(dependency.items()))
            # A target behind a trait is for those who take the trait.
            if kind != "target" or not (parts[-1] or {}).get("traits"):
                rest.append(parts[0])
    return found

watching = {"WaylayInspector", "WaylayInspectorServer", "WaylayTool", "NIOCore", "NIOHTTP1", "NIOPosix", "ArgumentParser"}
for product, foreign in {
    "WaylayCore": watching | {"WaylayHAR"}, "WaylayArchive": watching | {"WaylayHAR", "WaylayMocks"},
    "WaylayHosts": watching | {"WaylayHAR", "WaylayMocks"}, "WaylayMocks": watching | {"WaylayArchive"},
    "WaylayTesting": watching | {"WaylayArchive"}, "Waylay": watching,
    "WaylayInterceptors": watching | {"WaylayRecording", "WaylayMocks", "WaylayArchive", "WaylayHosts"},
    "WaylayInspector": (watching - {"WaylayInspector"}) | {"WaylayMocks", "WaylayArchive"},
}.items():
    assert product in targets, product
    if found := needed(product) & foreign:
        sys.exit(f"{product} is compiled with {sorted(found)}, which only others need")
assert needed("WaylayHAR") == {"WaylayHAR", "WaylayBase"} and needed("WaylayBase") == {"WaylayBase"}
# That it can find something.
assert needed("WaylayTool") >= watching - {"WaylayTool"} and "NIOHTTP1" in needed("WaylayInspectorServer")
print("Mocks, archive, hosts and core are compiled without the Inspector, its server and the tool")
'
