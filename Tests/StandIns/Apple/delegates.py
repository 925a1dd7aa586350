#!/usr/bin/env python3
"""A method of a delegate that is in none of the delegate protocols is never called, and no compiler says so on a Mac: they are optional there.
delegates.py STAND-INS SOURCES…: every `urlSession(…)` and `urlProtocol(…)` of the sources is in the stand-ins' protocols, by labels and types."""
import os, re, sys


def methods(text, inside=None):
    """Signatures of the functions with these names: labels, types, result."""
    for match in re.finditer(r"func (urlSession|urlProtocol\w*)\(", text):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        parameters = text[match.end():end - 1]
        result = re.match(r"\s*(?:async )?(?:throws )?(?:->\s*([\w.?]+))?", text[end:])[1] or ""
        parts, level, part = [], 0, ""
        for letter in re.sub(r"\s+", " ", parameters):
            level += {"(": 1, ")": -1}.get(letter, 0)
            if letter == "," and level == 0:
                parts.append(part)
                part = ""
            else:
                part += letter
        parts.append(part)
        signature = [(p.split(":")[0].split()[0], re.sub(r"@\w+|\s", "", p.split(":", 1)[1])) for p in parts if ":" in p]
        yield match[1], tuple(signature), result, text.count("\n", 0, match.start()) + 1


def files(folder):
    for place, _, names in os.walk(folder):
        yield from (os.path.join(place, n) for n in sorted(names) if n.endswith(".swift"))


known = {m[:3] for path in files(sys.argv[1]) for m in methods(open(path, encoding="utf-8").read())}
wrong = 0
for folder in sys.argv[2:]:
    for path in files(folder):
        text = open(path, encoding="utf-8").read()
        for name, signature, result, line in methods(text):
            if (name, signature, result) not in known:
                wrong += 1
                print(f"{path}:{line}: error: {name}({', '.join(label + ': ' + kind for label, kind in signature)}) is in no delegate protocol")
sys.exit(1 if wrong else 0)
