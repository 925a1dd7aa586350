#!/usr/bin/env python3
"""The links of all Markdown files.

  Scripts/pages.py --check     follows each link as GitHub does, and each link of a catalog as DocC does; fails for a dead one, for a page that
                               README.md does not lead to, and for a guide beyond its limits
  Scripts/pages.py --docc DIR  writes the catalogs there, with the links of DocC: Scripts/documentation.sh builds the site from them
  Scripts/pages.py             counts the words of the guide, page by page, as wc -w does: listings and tables included

The pages of a catalog (*.docc) are written for GitHub: relative links, and anchors as GitHub makes them from headings. DocC follows neither, so
the site is built from copies:

  [Bodies](Bodies.md)                            becomes <doc:Bodies>, if that is the page's title, or else [words](doc:Bodies)
  [words](Bodies.md#pass-on)                     [words](doc:Bodies#Pass-on)
  [words](../../../Documentation.docc/Bodies.md) [words](/documentation/waylay/bodies): a page of another catalog
  [words](../../WaylayMocks/MockError.swift#mockerror) [words](/documentation/waylaymocks/mockerror): a page that DocC makes of a source file
  [words](../CONTRIBUTING.md)                    words: a file that the site does not have
"""
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = ROOT / "Documentation.docc"
CATALOGS = [GUIDE, *sorted(ROOT.glob("Sources/*/*.docc"))]
PAGES = sorted(page for catalog in CATALOGS for page in catalog.glob("*.md"))
# What the guide may grow to: pages, and words.
LIMITS = (20, 22_000)
LINK = re.compile(r"(!?)\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s]+)\)")
FENCED = re.compile(r"(?ms)^(```.*?^```)")


def unfenced(text):
    return FENCED.sub("", text)


def headings(page):
    return re.findall(r"(?m)^#{2,4} (.+?)\s*$", unfenced(page.read_text(encoding="utf-8")))


def slug(heading):
    """A heading as GitHub names it."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


def fragment(heading):
    """A heading as DocC names it."""
    return re.sub(r"[\"'`’“”]", "", re.sub(r"\s+", "-", heading.strip()))


def title(page):
    return re.search(r"(?m)^# (.+)$", page.read_text(encoding="utf-8"))[1]


def site_path(page):
    """The path of a page on the site. A module's page has the name of the module; the guide's begins with it."""
    names = [page.stem.lower()]
    module = page.parent.stem if page.parent != GUIDE else "Waylay"
    return "/documentation/" + "/".join(names if page.stem == module else [module.lower()] + names)


def for_docc(page, match):
    """A link of a catalog's page as DocC follows it."""
    mark, words, target = match.groups()
    if mark or re.match(r"\w+:", target):
        return match[0]
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if file.suffix == ".swift":
        return f"[{words}](/documentation/{file.relative_to(ROOT / 'Sources').parts[0].lower()}/{anchor})"
    if file not in PAGES:
        return words
    anchor = next((fragment(heading) for heading in headings(file) if slug(heading) == anchor), anchor)
    rest = "#" + anchor if anchor else ""
    if file.parent != page.parent:
        return f"[{words}]({site_path(file)}{rest})"
    return f"<doc:{file.stem}>" if words == title(file) and not rest else f"[{words}](doc:{file.stem}{rest})"


def docc_text(page):
    parts = FENCED.split(page.read_text(encoding="utf-8"))
    return "".join(part if index % 2 else LINK.sub(lambda match: for_docc(page, match), part) for index, part in enumerate(parts))


def targets(text):
    text = unfenced(text)
    found = [(bool(mark), target) for mark, _, target in LINK.findall(text)]
    found += [(False, target) for target in re.findall(r"<(doc:[^>]+)>", text)]
    return found + [(False, target) for target in re.findall(r"(?:src|srcset|href)=\"([^\"]+)\"", text)]


def docc_fault(page, target, is_picture):
    """Why DocC does not follow a link of a page as it is built."""
    if re.match(r"https?:", target):
        return None
    if is_picture:
        return None if (page.parent / target).exists() else "there is no such picture beside the page"
    name, _, anchor = target.removeprefix("doc:").partition("#")
    if target.startswith("doc:"):
        file = page.parent / f"{name}.md"
    else:
        file = next((file for file in PAGES if site_path(file) == name), None)
        # Of the pages that DocC makes of declarations, Scripts/documentation.sh knows which there are.
        if file is None and re.match(r"/documentation/\w+/", name) and not name.startswith("/documentation/waylay/"):
            return None
    if file is None or not file.exists():
        return "there is no such page on the site"
    return None if not anchor or anchor in map(fragment, headings(file)) else "there is no such heading on the site"


def github_fault(page, target):
    if re.match(r"\w+:", target):
        return "GitHub does not follow the links of DocC" if target.startswith("doc:") else None
    # The repository's own pages on GitHub, whatever its address is.
    if re.match(r"(\.\./){2}(actions|deployments)/", target):
        return None
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists():
        return "there is no such file"
    return None if not anchor or file.suffix == ".swift" or anchor in map(slug, headings(file)) else "there is no such heading"


def word_counts():
    return {page.name: len(page.read_text(encoding="utf-8").split()) for page in GUIDE.glob("*.md")}


def check():
    faults, count = set(), 0
    others = [*ROOT.glob("*.md"), *ROOT.glob(".github/**/*.md"), *ROOT.glob("Internals/*.md")]
    for page in sorted(PAGES + others):
        links = [(target, github_fault(page, target)) for _, target in targets(page.read_text(encoding="utf-8"))]
        if page in PAGES:
            links += [(target, docc_fault(page, target, is_picture)) for is_picture, target in targets(docc_text(page))]
        count += len(links)
        faults.update(f"{page.relative_to(ROOT)}: {target}: {fault}" for target, fault in links if fault)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in GUIDE.glob("*.md"):
        if page.stem != "Waylay" and f"(Documentation.docc/{page.name}" not in readme:
            faults.add(f"README.md: no link to Documentation.docc/{page.name}")
    counts = word_counts()
    if len(counts) > LIMITS[0] or sum(counts.values()) > LIMITS[1]:
        faults.add(f"the guide has {len(counts)} pages and {sum(counts.values())} words: {LIMITS[0]} and {LIMITS[1]} at most, so leave something else out")
    if faults:
        sys.exit("\n".join(sorted(faults)))
    print(f"{count} links and pictures lead somewhere, on GitHub and on the site")


def write(folder):
    for catalog in CATALOGS:
        copy = folder / catalog.relative_to(ROOT)
        shutil.copytree(catalog, copy)
        for page in copy.glob("*.md"):
            page.write_text(docc_text(catalog / page.name), encoding="utf-8")


match sys.argv[1:]:
    case ["--check"]: check()
    case ["--docc", folder]: write(pathlib.Path(folder))
    case []:
        counts = word_counts()
        for name, count in sorted(counts.items(), key=lambda item: -item[1]):
            print(f"{count:7} {name}")
        print(f"{sum(counts.values()):7} words on {len(counts)} pages")
    case _: sys.exit(__doc__)
