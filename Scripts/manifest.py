#!/usr/bin/env python3
"""Prints names of Package.swift, one a line: of libraries (products), traits, or targets that are modules, programs or tests."""
import json, subprocess, sys

kinds = {"modules": "regular", "programs": "executable", "tests": "test"}
kind = (sys.argv[1:] or [""])[0]
if kind not in kinds and kind not in ("libraries", "traits"):
    sys.exit(__doc__)
package = json.loads(subprocess.run(["swift", "package", "dump-package"], check=True, stdout=subprocess.PIPE).stdout)
if kind == "libraries":
    found = [product for product in package["products"] if "library" in product["type"]]
elif kind == "traits":
    found = package["traits"]
else:
    found = [target for target in package["targets"] if target["type"] == kinds[kind]]
print(*(each["name"] for each in found), sep="\n")
