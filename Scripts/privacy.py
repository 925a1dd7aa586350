#!/usr/bin/env python3
"""Compares the privacy manifests of the libraries with what their sources call of the APIs for which Apple wants a reason.

  Scripts/privacy.py   fails for a call without a manifest that names its category, and for a category without a call

https://developer.apple.com/documentation/bundleresources/describing-use-of-required-reason-api
A module for Linux alone and the program, which is in no app, need none. It proves that it can fail.
"""
import json
import os
import pathlib
import plistlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PREFIX = "NSPrivacyAccessedAPICategory"
CATEGORIES = {
    "FileTimestamp": r"\b(?:f|l)?stat\(|\bfstatat\(|\bf?getattrlist(?:at|bulk)?\(|\bst_[acm]tim|\b(?:content|file)?[mM]odificationDate(?:Key)?\b|\bcreationDate(?:Key)?\b",
    "SystemBootTime": r"\bsystemUptime\b|\bmach_absolute_time\b",
    "DiskSpace": r"\bvolume(?:Available|Total)Capacity|\bsystem(?:Free)?Size\b|\bf?statv?fs\(",
    "ActiveKeyboards": r"\bactiveInputModes\b",
    "UserDefaults": r"\bUserDefaults\b",
}
EXEMPT = {"WaylayTool", "CWaylayCurl"}


def used(text):
    text = re.sub(r"(?m)//.*$", "", text)
    return {name for name, pattern in CATEGORIES.items() if re.search(pattern, text)}


def fault(module, texts, manifest):
    """What is wrong with a module, if anything is."""
    needed = set().union(*map(used, texts))
    declared = {entry["NSPrivacyAccessedAPIType"].removeprefix(PREFIX) for entry in (manifest or {}).get("NSPrivacyAccessedAPITypes", [])}
    if needed - declared:
        return f"{module}: no manifest gives a reason for {', '.join(sorted(needed - declared))}: see PrivacyInfo.xcprivacy of WaylayBase"
    if declared - needed or manifest is not None and not needed:
        return f"{module}: its manifest names {', '.join(sorted(declared - needed)) or 'nothing'}, which it does not use"
    return None


assert fault("Known", ["let size = fstat(file, &status)"], None) and fault("Known", ["UserDefaults.standard"], None)
assert fault("Known", [""], {"NSPrivacyAccessedAPITypes": []}) and not fault("Known", ["// fstat(file)\nlet status = stat()"[:14]], None)
faults, manifests = [], []
for folder in sorted((ROOT / "Sources").iterdir()):
    if folder.name in EXEMPT:
        continue
    path = folder / "PrivacyInfo.xcprivacy"
    manifest = plistlib.loads(path.read_bytes()) if path.exists() else None
    if manifest is not None:
        manifests.append(folder.name)
        if manifest["NSPrivacyTracking"] or manifest["NSPrivacyCollectedDataTypes"]:
            faults.append(f"{folder.name}: it neither tracks nor collects")
    if found := fault(folder.name, [file.read_text(encoding="utf-8") for file in folder.rglob("*.swift")], manifest):
        faults.append(found)
# On Apple platforms each is a resource of its target; elsewhere there is no bundle.
manifest = (ROOT / "Package.swift").read_text(encoding="utf-8")
listed = re.findall(r'"(\w+)"', re.search(r"let privacyManifests = \[(.*?)\]", manifest, re.S)[1])
if sorted(listed) != manifests:
    faults.append(f"Package.swift lists {sorted(listed)}, and there are {manifests}")
for switch in ["WAYLAY_APPLE_MANIFEST", "WAYLAY_NO_SWITCH"] if sys.platform != "darwin" else []:
    dump = subprocess.run(["swift", "package", "dump-package"], cwd=ROOT, env={**os.environ, switch: "1"}, capture_output=True, text=True, check=True)
    bundled = sorted(target["name"] for target in json.loads(dump.stdout)["targets"] if target["resources"])
    if bundled != (manifests if "APPLE" in switch else []):
        faults.append(f"with {switch} these targets have resources: {bundled}")
if faults:
    sys.exit("\n".join(faults))
print(f"{len(manifests)} privacy manifests say what the sources use: {', '.join(manifests)}")
