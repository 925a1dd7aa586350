#!/usr/bin/env python3
"""Makes the pages of the reference that are lists, from the code: Troubleshooting.md, of each error code the messages that come with it, and
CredentialNames.md, the table of names whose values are credentials.

  Scripts/troubleshooting.py           writes the pages
  Scripts/troubleshooting.py --check   fails when a page is not what the code says, or a code does not say what to do

The documentation comment of a code has two paragraphs: what happened, and what to do.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CATALOG = ROOT / "Sources/WaylayCore/WaylayCore.docc"

# The type, its module, and the path of the page that has its codes on the site.
TYPES = [
    ("WaylayError", "WaylayCore", "errorcode"),
    ("TransportError", "WaylayCore", "errorcode"),
    ("MockError", "WaylayMocks", "waylaycore/errorcode"),
    ("ArchiveError", "WaylayArchive", "waylaycore/errorcode"),
    ("HostError", "WaylayHosts", "waylaycore/errorcode"),
    ("HARError", "WaylayHAR", "openenum"),
]

OPENING = """# Troubleshooting

The messages of errors, to search, and the code that each comes with.

## Overview

The documentation of a code says what happened and what to do. Here, `…` stands for what differs.

An app sees a `URLError`. Ask it for the cause:

```swift
import Waylay

let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry()))
let url = URL(string: "https://api.example.com/users/1")!
do {
  _ = try await session.data(from: url)
} catch let error as URLError {
  print(error.loadError ?? error)
}
```

[Errors](../../../Documentation.docc/Loads.md#errors) has the `URLError` code for each cause.
"""


CREDENTIALS = """# Names of credentials

The names by which Waylay tells credentials from other values.

## Overview

One table decides what does not follow a redirect to another origin, what tells users apart in an archive, and what is hidden by name in logs, HAR files,
cassettes and reports: request fields, cookies, items of queries and forms, members of JSON, elements of XML.

A row is written as words that end a name; as `= name`, a whole name; as `…word`, what also ends a longer word; and as `x … word`, a word that ends a name
beginning with `X-`. Letter case and punctuation do not count, nor does a number or a version at the end (`X-Hub-Signature-256`, `token_v2`). A plural is
another word, but for redactions where the table says so; they also hide numbers of JSON, and values with white space outside of fields and cookies, only
where it says so. **The row of a whole name decides before any other one; of those that a name ends in, the row with the most letters does**: `page_token` is
harmless, and `page_access_token` a credential. A name without a row is none.

[What crosses origins](../../../Documentation.docc/Loads.md#what-crosses-origins) and [Users](../../../Documentation.docc/Archive.md#users) say what follows.
"""
VALUES = {"plural": "plural", "numbers": "numbers", "spaces": "white space"}
KINDS = {
    "stable": ("Credentials", "The same in each request of a user or an app, or private: an archive tells users apart by these fields."),
    "changing": ("Credentials that change", "Different in each request: they tell nobody apart."),
    "harmless": ("No credentials", "Though the names end so."),
}


def declarations(name, module):
    """Where the codes of a type are declared: the extensions of `ErrorCode` for it, or else the type's own file."""
    sources = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "Sources" / module).glob("**/*.swift"))]
    found = [part for text in sources
             for part in re.findall(rf"^extension ErrorCode where Domain == {name} {{$.*?^}}$", text, re.M | re.S)]
    return "\n".join(found or [text for text in sources if f"public struct {name}:" in text])


def codes(source):
    """Of each code of a type: its name and the paragraphs of its comment."""
    found = []
    for match in re.finditer(r"((?:^ *///[^\n]*\n)+) *public static (?:let|var) (\w+)\b.*\b(?:Self|Code)\(\"\2\"\)", source, re.M):
        lines = [re.sub(r"^ */// ?", "", line) for line in match.group(1).splitlines()]
        paragraphs = [" ".join(part.split()) for part in "\n".join(lines).split("\n\n")]
        found.append((match.group(2), paragraphs))
    return found


def literal(text, at):
    """The text of the string literal that begins at a place, with … for interpolations, and where it ends."""
    fence = '"""' if text.startswith('"""', at) else '"'
    at += len(fence)
    result = ""
    while not text.startswith(fence, at):
        if text.startswith("\\(", at):
            depth, at = 1, at + 2
            while depth:
                if text[at] == '"':
                    at = literal(text, at)[1]
                    continue
                depth += {"(": 1, ")": -1}.get(text[at], 0)
                at += 1
            result += "…"
        elif text[at] == "\\":
            result += {"n": "\n", "\n": "", "t": " "}.get(text[at + 1], text[at + 1])
            at += 2
        else:
            result += text[at]
            at += 1
    return result, at + len(fence)


def messages(name, code, home):
    """The beginnings of the messages that come with a code."""
    found = set()
    for path in sorted((ROOT / "Sources").glob("Waylay*/**/*.swift")):
        source = path.read_text(encoding="utf-8")
        # In its own module a code may come through a helper; elsewhere it is named with its type.
        opening = r"\(" if path.is_relative_to(ROOT / "Sources" / home) else re.escape(name) + r"\("
        for match in re.finditer(opening + r"\s*\." + code + r",\s*(?=\")", source):
            before = re.search(r"(\w*Error)$", source[: match.start()])
            if before and before.group(1) != name:
                continue
            text, end = literal(source, match.end())
            while more := re.compile(r"\s*\+\s*(?=\")").match(source, end):
                part, end = literal(source, more.end())
                text += part
            sentence = " ".join(text.split())
            if len(sentence.replace("…", "").strip()) > 8:
                found.add(sentence if len(sentence) < 160 else sentence[:150].rsplit(" ", 1)[0] + " …")
    return sorted(found, key=str.casefold)


def credentials():
    """The page of the table in CredentialNames.swift."""
    source = (ROOT / "Sources/WaylayBase/CredentialNames.swift").read_text(encoding="utf-8")
    groups = re.findall(r'^    // ([^\n]+)\n    Group\(\s*\.(\w+),(?:\s*hides: (\[[^]]*\]|\.\w+),)?\s*("(?:"".*?""|[^"]*)")\s*\),$', source, re.M | re.S)
    if len(groups) != source.count("    Group("):
        sys.exit("CredentialNames.swift: a group of the table has no heading, or cannot be read")
    text = CREDENTIALS
    for kind, (title, what) in KINDS.items():
        text += f"\n## {title}\n\n{what}\n\n| what | also hidden | names |\n|---|---|---|\n"
        for heading, _, hides, rows in [group for group in groups if group[1] == kind]:
            names = [" ".join(row.split()) for row in literal(rows, 0)[0].split(",")]
            also = ", ".join(VALUES[value] for value in re.findall(r"\w+", hides))
            text += f"| {heading} | {also} | " + ", ".join(f"`{name}`" for name in names) + " |\n"
    return text


def page():
    text, faults = OPENING, []
    for name, module, path in TYPES:
        source = declarations(name, module)
        file = next(file for file in (ROOT / "Sources" / module).glob("**/*.swift") if f"public struct {name}:" in file.read_text(encoding="utf-8"))
        text += f"\n## {name}\n\n[The codes of {name}](../../{file.relative_to(ROOT / 'Sources')}#{path})\n\n"
        for code, paragraphs in codes(source):
            if len(paragraphs) != 2:
                faults.append(f"{name}.{code}: its comment needs two paragraphs, what happened and what to do")
            text += f"- `{name}.{code}`\n"
            said = [] if name == "TransportError" else messages(name, code, module)
            text += "".join("  - `" + line.replace("`", "'") + "`\n" for line in said)
    return text, faults


def main():
    text, faults = page()
    if faults:
        sys.exit("\n".join(faults))
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    for name, text in {"Troubleshooting.md": text, "CredentialNames.md": credentials()}.items():
        file = CATALOG / name
        if not sys.argv[1:]:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            sys.exit(f"{file.relative_to(ROOT)} is not what the code says: run Scripts/troubleshooting.py")
        else:
            print(f"{name} is what the code says")


if __name__ == "__main__":
    main()
