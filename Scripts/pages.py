#!/usr/bin/env python3
"""The links of all Markdown files, checked without building anything.

  Scripts/pages.py --check   fails for a link that leads nowhere, and for a guide that nobody would read to its end
  Scripts/pages.py           counts the words of the guide, page by page, as wc -w does: listings and tables included

A catalog (*.docc) has the links of DocC, so that whoever builds it, an index or a host, gets all of them from the files as they lie:

  <doc:Page>, <doc:Page#A-heading>, [words](doc:Page)   another page of the catalog
  [Title](/documentation/waylay/page)              from a module's page to the guide, or back: these are catalogs of their own, which one site holds
  ![What it shows](picture.svg)                    a picture beside the page

GitHub shows these pictures, and the words of such links, but does not follow them: it takes addresses of http, https and mailto alone, and a relative
link, which it would follow, is dead in what DocC builds; /documentation/ is to it a path of its own. No form serves both. So a reader there comes to each page by the list in README.md,
and this check fails if a page of the guide is missing in it.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = ROOT / "Documentation.docc"
# Made by Scripts/troubleshooting.py; a page to search.
GENERATED = ["Troubleshooting.md"]
# What the guide may grow to: pages, and words of those that are written by hand.
LIMITS = (22, 25_000)


def unfenced(text):
    return re.sub(r"(?ms)^```.*?^```", "", text)


def headings(page, form):
    return [form(heading) for heading in re.findall(r"(?m)^#{2,4} (.+?)\s*$", unfenced(page.read_text(encoding="utf-8")))]


def slug(heading):
    """A heading as the hosts of repositories name it."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


def fragment(heading):
    """A heading as DocC names it."""
    return re.sub(r"[\"'`’“”]", "", re.sub(r"\s+", "-", heading.strip()))


def catalog_fault(page, target, is_picture):
    if re.match(r"https?:", target):
        return None
    if is_picture:
        return None if (page.parent / target).exists() else "there is no such picture beside the page"
    scheme, _, rest = target.rpartition(":") if target.startswith("doc:") else ("", "", target)
    if scheme == "doc":
        name, _, anchor = rest.partition("#")
        file = page.parent / f"{name}.md"
    elif target.startswith("/documentation/"):
        name, _, anchor = target.removeprefix("/documentation/").partition("#")
        pages = [*GUIDE.glob("*.md"), *ROOT.glob("Sources/*/*.docc/*.md")]
        # A module's page has the name of the module; the guide's begins with it.
        paths = {(f"waylay/{file.stem.lower()}" if file.parent == GUIDE and file.stem != "Waylay" else file.stem.lower()): file for file in pages}
        file = paths.get(name)
    else:
        return "a catalog links by doc:, /documentation/ or https:"
    if file is None or not file.exists():
        return "there is no such page"
    if anchor and anchor not in headings(file, fragment):
        return "there is no such heading"
    return None


def repository_fault(page, target):
    if re.match(r"\w+:", target):
        return "a link of DocC is dead here" if target.startswith("doc:") else None
    # The repository's own pages on GitHub, whatever its address is.
    if target.startswith("../../actions/"):
        return None
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists():
        return "there is no such file"
    if anchor and anchor not in headings(file, slug):
        return "there is no such heading"
    return None


def word_counts():
    return {page.name: len(page.read_text(encoding="utf-8").split()) for page in GUIDE.glob("*.md")}


def check():
    faults, count = [], 0
    catalogs = [*GUIDE.glob("*.md"), *ROOT.glob("Sources/*/*.docc/*.md")]
    others = [*ROOT.glob("*.md"), *ROOT.glob(".github/**/*.md"), *ROOT.glob("Internals/*.md")]
    for page in sorted(catalogs + others):
        text = unfenced(page.read_text(encoding="utf-8"))
        links = [(bool(mark), target) for mark, target in re.findall(r"(!?)\[(?:[^\]`]|`[^`]*`)*\]\(([^)\s]+)\)", text)]
        links += [(False, target) for target in re.findall(r"<(doc:[^>]+)>", text)]
        links += [(False, target) for target in re.findall(r"(?:src|srcset|href)=\"([^\"]+)\"", text)]
        for is_picture, target in links:
            count += 1
            if fault := catalog_fault(page, target, is_picture) if page in catalogs else repository_fault(page, target):
                faults.append(f"{page.relative_to(ROOT)}: {target}: {fault}")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in GUIDE.glob("*.md"):
        if page.stem != "Waylay" and f"(Documentation.docc/{page.name}" not in readme:
            faults.append(f"README.md: no link to Documentation.docc/{page.name}: nobody on GitHub comes to it")
    counts = word_counts()
    written = sum(count for name, count in counts.items() if name not in GENERATED)
    if len(counts) > LIMITS[0] or written > LIMITS[1]:
        faults.append(f"the guide has {len(counts)} pages and {written} words: {LIMITS[0]} and {LIMITS[1]} at most, so leave something else out")
    if faults:
        sys.exit("\n".join(sorted(set(faults))))
    print(f"{count} links and pictures lead somewhere")


def words():
    counts = {name: count for name, count in word_counts().items() if name not in GENERATED}
    for name, count in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"{count:7} {name}")
    print(f"{sum(counts.values()):7} words on {len(counts)} pages; not counted, because a script writes it from the code: {', '.join(GENERATED)}")


if sys.argv[1:] == ["--check"]:
    check()
elif len(sys.argv) == 1:
    words()
else:
    sys.exit(__doc__)
