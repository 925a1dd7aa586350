#!/usr/bin/env python3
"""Prints the public API that symbol graphs have, one declaration or conformance a line.

  Scripts/symbols.py FOLDER            all of it
  Scripts/symbols.py FOLDER FILE       what FILE does not have
  Scripts/symbols.py --own FOLDER SOURCES    leaves in the graphs only what is declared in the folder SOURCES, not what is exported again
"""
import json
import pathlib
import sys

if sys.argv[1] == "--own":
    for file in pathlib.Path(sys.argv[2]).glob("*.json"):
        graph = json.loads(file.read_text(encoding="utf-8"))
        graph["symbols"] = [s for s in graph["symbols"] if f"/{sys.argv[3]}/" in s.get("location", {}).get("uri", "")]
        kept = {s["identifier"]["precise"] for s in graph["symbols"]}
        graph["relationships"] = [r for r in graph["relationships"] if r["source"] in kept]
        if kept:
            file.write_text(json.dumps(graph), encoding="utf-8")
        else:
            file.unlink()
    sys.exit()

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
    # Of a property without its type, which one compiler step spells `Self` and another in full.
    known = {line.partition(": ")[0] if " var " in line else line for line in pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()}
    lines = {line for line in lines if (line.partition(": ")[0] if " var " in line else line) not in known}
if lines:
    print(*sorted(lines), sep="\n")
