#!/usr/bin/env python3
"""Checks the prose that users read: the spelling, by hunspell with its dictionaries of American and British English and the
words of Scripts/Prose/words.txt, and the phrases of Scripts/Prose/phrases.txt, which must not come back. Messages are prose: the string literals
of errors, logs and help, and those of the Inspector's page.

  Scripts/prose.py          the files at the root, the guide, the documentation comments of the libraries, and their messages
  Scripts/prose.py FILE…    these files alone

Fails with the place of each finding. Where hunspell or a dictionary is not installed, says so and checks the phrases alone
(Debian: apt-get install hunspell hunspell-en-us hunspell-en-gb; macOS: brew install hunspell, and the dictionaries in
~/Library/Spelling).
"""
import pathlib
import re
import shutil
import subprocess
import sys

from troubleshooting import literal

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATTERNS = ["*.md", ".github/**/*.md", "Documentation.docc/*.md", "Internals/*.md", "Sources/*/*.docc/*.md", "Sources/Waylay*/**/*.swift",
            "Sources/WaylayInspector/Page/Readable/*.js"]


def files(arguments):
    if arguments:
        return [pathlib.Path(name).resolve() for name in arguments]
    return sorted(path for pattern in PATTERNS for path in ROOT.glob(pattern))


def blank(match):
    """A mark and the line breaks, so that lines keep their numbers."""
    return "·" + re.sub(r"[^\n]+", " ", match.group())


def comments(text):
    """The documentation comments of a Swift file, each line in its place."""
    return "\n".join(re.sub(r"^\s*/// ?", "", line) if re.match(r"\s*///", line) else "" for line in text.split("\n"))


# Comments, regular expressions and string literals, in Swift and in the scripts of the page.
REGEX = r"(?<=[(,=:\s])/(?![*/ ])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/"
SWIFT = re.compile(rf'//.*|/\*(?s:.*?)\*/|{REGEX}|#+"|"')
SCRIPT = re.compile(rf"//.*|/\*(?s:.*?)\*/|{REGEX}|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`")


def messages(path, text):
    """The messages in a file of code, each in its line, with … for interpolations: string literals that read as a sentence."""
    if path.name == "PageSource.swift":  # made of the scripts of the page
        text = re.sub(r"[^\n]+", "", text)
    lines, at = [""] * (text.count("\n") + 1), 0
    tokens = SWIFT if path.suffix == ".swift" else SCRIPT
    while token := tokens.search(text, at):
        at, found = token.end(), token.group()
        if found == '"':
            found, at = literal(text, token.start())
        elif found[0] == "#":
            found, at = "", text.index(found[::-1], at) + len(found)
        elif found[0] in "'`":
            found = re.sub(r"\$\{(?:[^{}]|\{[^{}]*\})*\}", "…", found[1:-1])
        else:
            continue
        # Addresses, paths, options and names of code are none of its words.
        found = re.sub(r"https?:\S+|[\w.~-]*/[\w./<>-]*|--?\w[\w-]*|\w*[._:(){}<>@#\[\]=\"]\w[\w.:(){}<>\[\]=\"]*|\w*\d\w*", " ", found)
        if re.search(r"[a-z] (the|an?|was|are|to|of|in|and|or|not|has|with|by|for)\b", found):
            lines[text.count("\n", 0, token.start())] += " ".join(found.split()) + " · "
    return "\n".join(lines)


def prose(text):
    """A Markdown text without code, addresses, tags and comments."""
    for pattern in (r"(?ms)^[ >]*(```|~~~).*?^[ >]*\1", r"(?s)<!--.*?-->", r"(`{1,3})[^`]+?\1", r"<[^>\n]+>", r"(?<=\])\([^)\n]*\)", r"https?://\S+"):
        text = re.sub(pattern, blank, text)
    return text


def misspelt(texts, words):
    tool = shutil.which("hunspell")
    if tool is None:
        return None
    known = set(words)
    letters = re.compile(r"[^\W\d_]+(?:[’'][^\W\d_]+)*")
    candidates = sorted({word.replace("’", "'") for text in texts.values() for word in letters.findall(text)} - known)
    command = [tool, "-i", "utf-8", "-d", "en_US,en_GB", "-l"]
    result = subprocess.run(command, input="\n".join(candidates), capture_output=True, text=True)
    if result.returncode != 0 or "Can't open" in result.stderr:
        return None
    unknown = set(result.stdout.split())
    # A plural or a possessive of a known word is known; so is what camelCase or capitals tell to be a name.
    unknown = {word for word in unknown if re.sub(r"'?s$", "", word) not in known and not re.search(r".[A-Z]", word)}
    return [
        (path, number, f"“{word}” is in no dictionary")
        for path, text in texts.items()
        for number, line in enumerate(text.split("\n"), 1)
        for word in letters.findall(line)
        if word.replace("’", "'") in unknown
    ]


def unwanted(texts, phrases):
    found = []
    for path, text in texts.items():
        for pattern, instead in phrases:
            for match in pattern.finditer(text):
                number = text.count("\n", 0, match.start()) + 1
                phrase = " ".join(match.group().split())
                found.append((path, number, f"“{phrase}”: {instead}"))
    return found


def doubled(texts):
    """The same word twice in a row."""
    found = []
    for path, text in texts.items():
        for match in re.finditer(r"(?i)\b(a|[a-z]{2,})[ \t]*\n?[ \t]*(?<=\s)\1\b", text):
            found.append((path, text.count("\n", 0, match.start()) + 1, f"“{match.group(1)}” stands there twice"))
    return found


def entries(name):
    lines = (ROOT / "Scripts/Prose" / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def main():
    texts, lines = {}, {}
    for path in files(sys.argv[1:]):
        if not path.is_file():
            sys.exit(f"{path}: there is no such file")
        text = path.read_text(encoding="utf-8")
        isCode = path.suffix != ".md"
        texts[path] = prose("\n".join(map(" ".join, zip(comments(text).split("\n"), messages(path, text).split("\n")))) if isCode else text)
        # Messages are in the code: phrases are looked for in all of it.
        lines[path] = text if isCode else texts[path]
    phrases = []
    for entry in entries("phrases.txt"):
        pattern, _, instead = (part.strip() for part in entry.partition("=>"))
        # A phrase may be broken by the end of a line, and by what begins the next line of a comment.
        phrases.append((re.compile(r"(?i)" + pattern.replace(" ", r"[ \t]*\n?[ \t]*(?:///?)?[ \t]*(?<=[\s/])")), instead))
    findings = unwanted(lines, phrases) + doubled(texts)
    spelling = misspelt(texts, entries("words.txt"))
    if spelling is None:
        print("The spelling is not checked: hunspell or its dictionaries en_US and en_GB are not installed.")
    else:
        findings += spelling
    for path, number, text in sorted(findings):
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        print(f"{name}:{number}: {text}")
    if findings:
        sys.exit(f"{len(findings)} findings. A right word goes into Scripts/Prose/words.txt.")
    print(f"{len(texts)} files of prose, nothing to mend")


main()
