#!/usr/bin/env bash
# Puts the page of the Inspector, which is kept as HTML, CSS and JavaScript in Sources/WaylayInspector/Page/Readable, into a Swift file: a
# library on Linux and Apple platforms then has it without a bundle. The hashes of style and script, by which the page's policy knows them, are
# made here too.
#
#   Scripts/page.sh           writes Sources/WaylayInspector/Page/PageSource.swift
#   Scripts/page.sh --check   says whether it is up to date
#   Scripts/page.sh --try HAR OUT [live]  writes a page around a file of traffic, without Swift
set -euo pipefail
cd "$(dirname "$0")/.."
folder=Sources/WaylayInspector/Page
readable=$folder/Readable
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One script: nothing of it is a name of the page's window.
{ printf '"use strict";\n(() => {\n'; cat "$readable"/*.js; printf '})();\n'; } >"$work/script"
cp "$readable/page.css" "$work/style"
cp "$readable/page.html" "$work/markup"
grep -qE '"""|\\#' "$work"/{script,style,markup} && { echo "The sources of the page must not hold what ends a literal of Swift"; exit 1; }
grep -qiE '</(script|style)' "$work"/{script,style} && { echo "Style and script must not hold what ends them"; exit 1; }
# What Swift keeps of a literal has no line break at its end.
for part in script style markup; do printf '%s' "$(cat "$work/$part")" >"$work/$part.text"; done
hash() { openssl dgst -sha256 -binary "$1" | base64; }
script=$(hash "$work/script.text") style=$(hash "$work/style.text")

if [ "${1:-}" = --try ]; then
  exec python3 - "$work" "$2" "$3" "${4:-}" "$script" "$style" <<'PY'
import sys
work, har, out, live, script, style = sys.argv[1:]
text = lambda name: open(f"{work}/{name}.text", encoding="utf-8").read()
page = text("markup")
policy = (f"default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; "
          "require-trusted-types-for 'script'; trusted-types 'none'") + ("; connect-src 'self'" if live else "")
for name, value in {"POLICY": policy, "LIVE": "true" if live else "", "TITLE": "Waylay", "STYLE": text("style"), "SCRIPT": text("script"),
                    "HAR": open(har, encoding="utf-8").read().replace("<", "\\u003c")}.items():
    page = page.replace("{{" + name + "}}", value)
open(out, "w", encoding="utf-8").write(page)
PY
fi

literal() {
  printf '\n  /// %s\n  static let %s = #"""\n' "$3" "$1"
  sed 's/^\(.\)/    \1/' "$work/$2.text"
  printf '\n    """#\n'
}
{
  echo '// swift-format-ignore-file'
  echo '// Made by Scripts/page.sh from the files in Readable: change those.'
  echo
  echo 'enum PageSource {'
  printf '  /// The SHA-256 of the style, as a policy writes it.\n  static let styleHash = "sha256-%s"\n' "$style"
  printf '  /// The SHA-256 of the script, as a policy writes it.\n  static let scriptHash = "sha256-%s"\n' "$script"
  literal markup markup "The page, with places for the rest."
  literal style style "How it looks."
  literal script script "What it does."
  echo '}'
} >"$work/swift"

if [ "${1:-}" = --check ]; then
  cmp -s "$work/swift" "$folder/PageSource.swift" || { echo "$folder/PageSource.swift is not up to date: run Scripts/page.sh"; exit 1; }
else
  cp "$work/swift" "$folder/PageSource.swift"
fi
