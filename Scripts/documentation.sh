#!/usr/bin/env bash
# Builds the documentation of all libraries as one site, from the catalogs with their links turned into those of DocC (Scripts/pages.py), with
# warnings as errors: a dead link or a missing picture is one. Prints how much of the public interface is documented, and fails below 100 %.
#
#   Scripts/documentation.sh
#   Scripts/documentation.sh SITE       keeps the site there, to be served as files
#
# WAYLAY_SITE_BASE=/waylay: the path that the site will have on its host.
set -euo pipefail
cd "$(dirname "$0")/.."
modules=$PWD/.build/debug/Modules
Scripts/pages.py --check
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Comments are read from the sources at the places that the modules know: both have to be of today.
swift build --enable-all-traits --build-tests >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
docc=$(dirname "$(command -v swift)")/docc
[ -x "$docc" ] || docc=$(xcrun --find docc 2>/dev/null || command -v docc)

maps=()
for map in "$PWD"/.build/debug/*.build/module.modulemap "$PWD"/.build/checkouts/*/{Sources/*,*}/include/module.modulemap; do
  [ -f "$map" ] && maps+=(-Xcc "-fmodule-map-file=$map")
done
triple=$(swift -print-target-info | sed -n 's/^ *"triple": "\(.*\)",/\1/p' | head -1)

# What only Apple platforms have, from the stand-ins.
mkdir "$work/apple"
[ "$(uname)" != Linux ] || WAYLAY_SYMBOLS=$work/apple Scripts/apple.sh ios16.0 >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

libraries=(
  WaylayCore WaylayHAR WaylayArchive WaylayHosts WaylayMocks WaylayTesting WaylayInspector WaylayInspectorServer WaylayInterceptors WaylayTunnel
  WaylayAsyncHTTPClient WaylayRemote WaylayRemoteControl WaylayWebView)
for library in "${libraries[@]}" Waylay; do
  [ ! -d "$work/apple/$library" ] || { mkdir -p "$work/symbols/$library" && cp -R "$work/apple/$library" "$work/symbols/$library/apple"; }
  [ "$library" != WaylayWebView ] || continue
  mkdir -p "$work/symbols/$library"
  # What is public in the base belongs to the pages of WaylayHAR.
  base=()
  [ "$library" != WaylayHAR ] || base=(-experimental-allowed-reexported-modules=WaylayBase)
  swift symbolgraph-extract -module-name "$library" -I "$modules" "${maps[@]}" -target "$triple" -output-dir "$work/symbols/$library" \
    -minimum-access-level public -skip-synthesized-members -emit-extension-block-symbols ${base[@]+"${base[@]}"} >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
done
# DocC takes comments of another module for inherited ones.
sed -i.bak 's/"module":"WaylayBase"/"module":"WaylayHAR"/g' "$work/symbols/WaylayHAR/WaylayHAR.symbols.json"
rm "$work/symbols/WaylayHAR/WaylayHAR.symbols.json.bak"

# Each alone, as a host builds it that knows one catalog at a time.
archives=()
convert() {
  local library=$1 catalog=$2 symbols=()
  [ ! -d "$work/symbols/$library" ] || symbols=(--additional-symbol-graph-dir "$work/symbols/$library")
  "$docc" convert "$catalog" "${symbols[@]}" --fallback-display-name "$library" \
    --fallback-bundle-identifier "$library" --warnings-as-errors \
    --hosting-base-path "${WAYLAY_SITE_BASE:-/}" --experimental-documentation-coverage --coverage-summary-level detailed \
    --output-path "$work/$library.doccarchive" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  archives+=("$work/$library.doccarchive")
  # A line a page: name, kind, whether it is documented. Modules, groups and what other modules declare are not ours to document, and the
  # projection ($current) that @TaskLocal makes of a documented property can carry no comment; neither can the initializer of an enum's raw values.
  awk -F ' *[|] *' -v target="$library" '
    $1 ~ /^\$/ || ($1 == "init(rawValue:)" && $3 == "false") { next }
    NF < 6 || ($3 != "true" && $3 != "false") || $2 ~ /^(Module|Extended .*|CollectionGroup|Article)$/ { next }
    { all += 1 }
    $3 == "true" { documented += 1; next }
    { print target ": not documented: " $1 " (" $NF ")" }
    END {
      if (all) printf "%s: %d of %d public declarations documented (%.1f %%)\n", target, documented, all, 100 * documented / all
      else print target ": documentation built; no declarations of its own"
      exit documented < all
    }' "$work/log"
}
Scripts/pages.py --docc "$work/catalogs"
convert Waylay "$work/catalogs/Documentation.docc"
for library in "${libraries[@]}"; do
  convert "$library" "$work/catalogs/Sources/$library/$library.docc"
done
"$docc" merge "${archives[@]}" --synthesized-landing-page-name Waylay --synthesized-landing-page-kind Package --output-path "$work/site"

# DocC has nothing to show at the root of a site: lead from there to the page that begins with tasks.
printf '<!doctype html>\n<meta charset="utf-8">\n<title>Waylay</title>\n%s\n<a href="documentation/waylay/">Waylay</a>\n' \
  '<meta http-equiv="refresh" content="0; url=documentation/waylay/">' >"$work/site/index.html"

# What DocC takes as it is: links from one module's pages to another's, their headings, and anything that is no link of DocC.
python3 - "$work/site" <<'PYTHON'
import json, pathlib, sys

site = pathlib.Path(sys.argv[1])
pages = {"/" + str(file.relative_to(site / "data").with_suffix("")): json.loads(file.read_text(encoding="utf-8"))
         for file in (site / "data").rglob("*.json")}
anchors = {path: {content.get("anchor") for section in page.get("primaryContentSections", []) for content in section.get("content", [])}
           for path, page in pages.items()}
faults, links, pictures = set(), 0, 0
for path, page in pages.items():
    for name, reference in page.get("references", {}).items():
        if reference.get("type") == "image":
            pictures += len(reference["variants"])
            faults.update(f"{path}: {variant['url']}: there is no such picture" for variant in reference["variants"]
                          if not (site / variant["url"].lstrip("/")).exists())
        elif reference.get("type") in ("link", "topic", "section"):
            url, _, anchor = (reference.get("url") or name).partition("#")
            if url.startswith(("https:", "http:")):
                continue
            links += 1
            if url not in pages:
                faults.add(f"{path}: {url}: there is no such page")
            elif anchor and anchor not in anchors[url]:
                faults.add(f"{path}: {url}#{anchor}: there is no such heading")
if faults or links < 1000 or pictures < 10:
    sys.exit("\n".join(sorted(faults)) or f"{links} links and {pictures} pictures: too few, this check checks nothing")
print(f"{links} links and {pictures} pictures of the site lead somewhere")
PYTHON
if [ $# -gt 0 ]; then
  mkdir -p "$1"
  cp -R "$work/site/." "$1"
  echo "the site is in $1"
fi
