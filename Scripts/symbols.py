#!/usr/bin/env python3
"""Prints the public API that symbol graphs have, one declaration or conformance a line.

  Scripts/symbols.py FOLDER            all of it
  Scripts/symbols.py FOLDER FILE       what FILE does not have
"""
import json
import pathlib
import sys

lines = set()
for file in pathlib.Path(sys.argv[1]).glob("*.json"):
    graph = json.loads(file.read_text(encoding="utf-8"))
    names = {}
    for symbol in graph["symbols"]:
        path = symbol["pathComponents"]
        names[symbol["identifier"]["precise"]] = ".".join(path)
        declaration = " ".join("".join(part["spelling"] for part in symbol["declarationFragments"]).split())
        lines.add(" | ".join(filter(None, [".".join(path[:-1]), declaration])))
    for relation in graph["relationships"]:
        protocol = names.get(relation["target"]) or relation.get("targetFallback", "").removeprefix("Swift.").removeprefix("WaylayBase.")
        if relation["kind"] == "conformsTo" and protocol not in ("Copyable", "Escapable", "SendableMetatype"):
            lines.add(f"{names.get(relation['source'], relation['source'])}: {protocol}")
if len(sys.argv) > 2 and pathlib.Path(sys.argv[2]).exists():
    lines -= set(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").splitlines())
if lines:
    print(*sorted(lines), sep="\n")
