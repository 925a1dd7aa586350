#!/usr/bin/env python3
"""What a release has beside its sources, for .github/workflows/release.yml, and the address in the pages.

  Scripts/release.py address 0.1.0 [https://github.com/OWNER/waylay]
                                   before the tag: writes the address (that of the remote "origin") and the version into the pages and .spi.yml
  Scripts/release.py notes 0.1.0   the section of CHANGELOG.md; fails when it has no date, or there is none
  Scripts/release.py sbom 0.1.0    the packages of Package.resolved as a bill of materials, in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/)
  Scripts/release.py --check       fails when the first section of CHANGELOG.md, the bill, or the pages with an address cannot be made
"""
import json
import pathlib
import re
import subprocess
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


# The pages that a reader copies a dependency from.
PAGES = ["README.md"] + [f"Documentation.docc/{name}.md" for name in ("BuildAClient", "InXcode", "Waylay", "WritingAnInterceptor")]


def addressed(version: str, address: str) -> dict[str, str]:
    """The pages and .spi.yml for readers who depend on a release: no checkout, and a link to the site."""
    parts = re.fullmatch(r"https://github\.com/([\w-]+)/(waylay)", re.sub(r"^git@github\.com:", "https://github.com/", address).removesuffix(".git"), re.I)
    if not parts or not re.fullmatch(r"\d+\.\d+\.\d+", version):
        sys.exit(f"{address} {version}: give a version such as 0.1.0 and https://github.com/OWNER/waylay: packages name the last part.")
    site = f"https://{parts[1].lower()}.github.io/{parts[2]}/documentation/waylay/"
    files = {}
    for name in PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        text = re.sub(r"(?s)<!-- checkout -->\n.*?<!-- /checkout -->\n", "", text)
        text, count = re.subn(r'\.package\((?:name: "waylay", path: "\.\./waylay"|url: "[^"]*/waylay", from: "[^"]*")',
                              f'.package(url: "{parts[0]}", from: "{version}"', text, flags=re.I)
        if count != 1:
            sys.exit(f"{name} has {count} dependencies on this package, and should have one.")
        files[name] = text.replace("(../../deployments/github-pages)", f"({site})")
    # Its builder knows the links of DocC alone: it leads to the site.
    manifest = re.sub(r"(?m)^external_links:\n  .*\n", "", (ROOT / ".spi.yml").read_text(encoding="utf-8"))
    files[".spi.yml"] = manifest.replace("version: 1\n", f"version: 1\nexternal_links:\n  documentation: {site}\n")
    return files


match sys.argv[1:]:
    case ["address", version, *given] if len(given) < 2:
        remote = given or [subprocess.run(["git", "remote", "get-url", "origin"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()]
        for name, text in addressed(version, remote[0]).items():
            (ROOT / name).write_text(text, encoding="utf-8")
    case ["notes", version]: print(notes(version))
    case ["sbom", version]: print(sbom(version))
    case ["--check"]:
        first = SECTION.search((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
        if not first or not re.fullmatch(r"(Unreleased: )?\d+\.\d+\.\d+( - \d{4}-\d\d-\d\d)?", first["heading"]) or not first["text"].strip():
            sys.exit("CHANGELOG.md begins with no section for the next release, such as ## Unreleased: 0.2.0")
        pages = addressed("0.0.0", "git@github.com:owner/waylay.git")
        rest = [name for name, text in pages.items() if "deployments/github-pages" in text or "../waylay" in text or "<!-- checkout" in text]
        if rest or "owner.github.io" not in pages["README.md"] + pages[".spi.yml"]:
            sys.exit(f"A release would leave the words for a checkout in {rest}, or README.md without a link to the site.")
        print(f"{first['heading']}; {sbom('0.0.0').count('purl')} packages in the bill of materials; an address for {len(pages)} files")
    case _: sys.exit(__doc__)
