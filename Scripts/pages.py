#!/usr/bin/env python3
"""The links of the guide. Its pages link to each other as Markdown files do, [Title](Page.md#heading), so that they can be read on any
host of the repository; DocC wants other links.

  Scripts/pages.py --check                checks the links of all Markdown files: that page, heading and picture exist
  Scripts/pages.py CATALOG OUT [SYMBOLS]  copies a catalog for DocC: links to pages become links of DocC, pictures are named without
                                          their folder, and the first mention of a public type on a page becomes a link to its
                                          documentation. SYMBOLS is a folder of symbol graphs, one folder for each module.
"""
import json
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = ROOT / "Documentation.docc"
# Where the site will be, for links from the pages of one module to those of another.
BASE = os.environ.get("WAYLAY_SITE_BASE", "").rstrip("/")
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def outside_code(text):
    """The text in pieces: (is it code, the piece)."""
    for part in re.split(r"(?ms)(^```.*?^```[^\n]*$|`[^`\n]+`)", text):
        yield part.startswith("`"), part


def headings(text):
    text = re.sub(r"(?ms)^```.*?^```", "", text)
    return re.findall(r"(?m)^#{2,4} (.+?)\s*$", text)


def slug(heading):
    """A heading as the hosts of repositories name it."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


def fragment(heading):
    """A heading as DocC names it."""
    return re.sub(r"[\"'`’“”]", "", re.sub(r"\s+", "-", heading.strip()))


def check():
    faults, count = [], 0
    pages = [*ROOT.glob("*.md"), *ROOT.glob(".github/**/*.md"), *GUIDE.glob("*.md"), *ROOT.glob("Sources/*/*.docc/*.md")]
    for page in sorted(pages):
        text = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
        if "<doc:" in text or "](doc:" in text:
            faults.append(f"{page.relative_to(ROOT)}: a link of DocC (doc:) is dead elsewhere: write [Title](Page.md)")
        for part in (part for is_code, part in outside_code(text) if not is_code):
            targets = [match.group(3) for match in LINK.finditer(part)]
            targets += re.findall(r"(?:src|srcset|href)=\"([^\"]+)\"", part)
            for target in targets:
                if re.match(r"\w+:", target):
                    continue
                count += 1
                path, _, anchor = target.partition("#")
                file = (page.parent / path).resolve() if path else page
                if not file.exists():
                    faults.append(f"{page.relative_to(ROOT)}: {target}: there is no such file")
                elif anchor and anchor not in map(slug, headings(file.read_text(encoding="utf-8"))):
                    faults.append(f"{page.relative_to(ROOT)}: {target}: there is no such heading")
        # A link whose text holds code is in two pieces above.
        for target in re.findall(r"\]\(([\w./]+\.md)(?:#[^)]*)?\)", text):
            if not (page.parent / target).exists():
                faults.append(f"{page.relative_to(ROOT)}: {target}: there is no such file")
    if faults:
        sys.exit("\n".join(sorted(set(faults))))
    print(f"{count} links between pages lead somewhere")


def types(symbols):
    """Of each public type: the module that declares it."""
    found = {}
    for file in pathlib.Path(symbols).glob("*/*.symbols.json"):
        if "@" in file.name:
            continue
        graph = json.loads(file.read_text(encoding="utf-8"))
        for symbol in graph["symbols"]:
            path = symbol["pathComponents"]
            if len(path) == 1 and symbol["kind"]["identifier"] in ("swift.struct", "swift.class", "swift.protocol", "swift.enum", "swift.actor"):
                found[path[0]] = graph["module"]["name"]
    return found


def converted(text, page, known, module):
    def link(match):
        is_picture, title, target = match.groups()
        if is_picture:
            return f"![{title}]({pathlib.PurePath(target).stem})" if target.startswith("Resources/") else match.group()
        path, _, anchor = target.partition("#")
        if re.match(r"\w+:", target) or (path and not path.endswith(".md")):
            return match.group()
        file = (page.parent / path).resolve() if path else page
        if file.parent not in (GUIDE, page.parent):
            return title
        name = file.stem
        if anchor:
            names = {slug(heading): fragment(heading) for heading in headings(file.read_text(encoding="utf-8"))}
            anchor = "#" + names[anchor]
        if file.parent != page.parent:
            return f"[{title}]({BASE}/documentation/waylay/{name.lower()}{anchor})"
        return f"[{title}](doc:{name}{anchor})"

    lines, fence, seen = [], False, set()
    for line in text.split("\n"):
        if line.startswith("```"):
            fence = not fence
        if fence or line.startswith("#"):
            lines.append(line)
            continue
        entry = re.match(r"- \[[^\]]*\]\((\w+)\.md\)$", line)
        if entry and (page.parent / f"{entry.group(1)}.md").exists():
            lines.append(f"- <doc:{entry.group(1)}>")
            continue
        line = LINK.sub(link, line)

        def symbol(match):
            name = match.group(1)
            if name not in known or name in seen or known[name] == module:
                return match.group()
            seen.add(name)
            return f"``/{known[name]}/{name}``"

        lines.append(re.sub(r"(?<![\[`])`(\w+)`(?![`\]])", symbol, line))
    return "\n".join(lines)


def convert(catalog, out, symbols):
    known = types(symbols) if symbols else {}
    source, target = pathlib.Path(catalog).resolve(), pathlib.Path(out)
    shutil.copytree(source, target)
    module = source.stem if source.stem.startswith("Waylay") else "Waylay"
    for page in source.rglob("*.md"):
        text = converted(page.read_text(encoding="utf-8"), page, known if module == "Waylay" else {}, module)
        (target / page.relative_to(source)).write_text(text, encoding="utf-8")


if sys.argv[1:] == ["--check"]:
    check()
elif len(sys.argv) in (3, 4):
    convert(*sys.argv[1:3], sys.argv[3] if len(sys.argv) == 4 else None)
else:
    sys.exit(__doc__)
