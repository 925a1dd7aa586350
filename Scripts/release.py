#!/usr/bin/env python3
"""What a release has beside its sources, for .github/workflows/release.yml.

  Scripts/release.py notes 0.1.0   the section of CHANGELOG.md; fails when it has no date, or there is none
  Scripts/release.py sbom 0.1.0    the packages of Package.resolved as a bill of materials, in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/)
  Scripts/release.py --check       fails when the first section of CHANGELOG.md, or the bill, cannot be made
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECTION = re.compile(r"^## (?P<heading>.+)\n(?P<text>(?:(?!## ).*\n)*)", re.MULTILINE)


def notes(version: str) -> str:
    for section in SECTION.finditer((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")):
        if re.fullmatch(rf"{re.escape(version)} - \d{{4}}-\d\d-\d\d", section["heading"]):
            return section["text"].strip()
    sys.exit(f'CHANGELOG.md has no section "## {version} - YEAR-MONTH-DAY": give the section of the release its version and date.')


def component(pin: dict) -> dict:
    location, state = re.sub(r"^https://|\.git$", "", pin["location"]), pin["state"]
    version = state.get("version", state["revision"])
    return {"type": "library", "name": pin["identity"], "version": version, "bom-ref": f"pkg:swift/{location}@{version}",
            "purl": f"pkg:swift/{location}@{version}", "pedigree": {"commits": [{"uid": state["revision"]}]},
            "externalReferences": [{"type": "vcs", "url": pin["location"]}]}


def sbom(version: str) -> str:
    pins = json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))["pins"]
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
            "metadata": {"component": {"type": "library", "name": "waylay", "version": version, "bom-ref": "waylay"}},
            # Those of tests and of traits too: a dependent resolves fewer (Scripts/dependents.sh).
            "components": [component(pin) for pin in pins],
            "dependencies": [{"ref": "waylay", "dependsOn": [component(pin)["bom-ref"] for pin in pins]}]}
    return json.dumps(bill, indent=2)


match sys.argv[1:]:
    case ["notes", version]: print(notes(version))
    case ["sbom", version]: print(sbom(version))
    case ["--check"]:
        first = SECTION.search((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
        if not first or not re.fullmatch(r"(Unreleased: )?\d+\.\d+\.\d+( - \d{4}-\d\d-\d\d)?", first["heading"]) or not first["text"].strip():
            sys.exit("CHANGELOG.md begins with no section for the next release, such as ## Unreleased: 0.2.0")
        print(f"{first['heading']}; {sbom('0.0.0').count('purl')} packages in the bill of materials")
    case _: sys.exit(__doc__)
