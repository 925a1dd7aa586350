#!/usr/bin/env bash
# Writes the manual page of the command-line tool from what the tool says of its commands. A test compares the two.
#
#   Scripts/manual.sh      after swift build --enable-all-traits
set -euo pipefail
cd "$(dirname "$0")/.."
.build/debug/waylay --experimental-dump-help | python3 -c '
import json, sys

def text(value):
    value = " ".join((value or "").split()).replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + value if value[:1] in (".", "\x27") else value

def name(option):
    return ("-" if option["kind"] == "short" else "--") + option["name"]

def commands(command):
    yield command
    for below in command.get("subcommands") or []:
        if below["commandName"] != "help":
            yield from commands(below)

root = json.load(sys.stdin)["command"]
lines = [".TH WAYLAY 1", ".SH NAME", "waylay \\- " + text(root["abstract"]), ".SH SYNOPSIS", ".B waylay", ".I command", "[options]",
         ".SH DESCRIPTION", text(root.get("discussion"))]
for command in commands(root):
    path = (command.get("superCommands") or []) + [command["commandName"]]
    if command is not root:
        lines += [".SH " + text(" ".join(path)).upper(), ".B " + text(" ".join(path)), ".PP", text(command.get("abstract"))]
        if command.get("discussion"):
            lines += [".PP", text(command["discussion"])]
    for argument in command.get("arguments") or []:
        if not argument["shouldDisplay"]:
            continue
        names = ", ".join(name(option) for option in argument.get("names") or [])
        value = "" if argument["kind"] == "flag" else "<" + (argument.get("valueName") or "value") + ">"
        lines += [".TP", ".B " + text((names + " " + value).strip()), text(argument.get("abstract"))]
lines += [".SH ENVIRONMENT", ".TP", ".B WAYLAY_ARCHIVE_KEY", "The key of an encrypted archive, in Base64.", ".TP",
          ".B WAYLAY_REMOTE", "The invitation of the app that waylay mcp shows.", ".SH SEE ALSO", ".BR curl (1)"]
print("\n".join(lines))
' >Sources/WaylayTool/Manual/waylay.1
