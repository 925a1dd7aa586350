#!/usr/bin/env python3
"""What a release has besides its sources, for .github/workflows/release.yml and Scripts/check.sh, and the address in the pages.

  Scripts/release.py address 0.1.0 [https://github.com/OWNER/waylay]
                                   before the tag: writes the address (that of the remote "origin") and the version into the pages and .spi.yml
  Scripts/release.py make FOLDER [0.1.0]
                                   what is published, from a fresh clone: resolves and builds the package, and writes its notes (the section of
                                   CHANGELOG.md, which needs a date; without a version, the first section), a bill of materials in CycloneDX 1.6
                                   (https://cyclonedx.org/docs/1.6/json/) and the site as an archive
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECTION = re.compile(r"^## (?P<heading>.+)\n(?P<text>(?:(?!## ).*\n)*)", re.MULTILINE)


def notes(version: str | None) -> tuple[str, str]:
    """A version and its section of CHANGELOG.md."""
    for section in SECTION.finditer((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")):
        parts = re.fullmatch(r"(Unreleased: )?(\d+\.\d+\.\d+)( - \d{4}-\d\d-\d\d)?", section["heading"])
        if parts and section["text"].strip() and (not version or parts[2] == version and parts[3]):
            return parts[2], section["text"].strip()
        if not version:
            break
    sys.exit(f'CHANGELOG.md has no section "## {version or "0.2.0"} - YEAR-MONTH-DAY"{"" if version else " or ## Unreleased: 0.2.0 as its first"}.')


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
PAGES = ["README.md"] + [f"Documentation.docc/{name}.md" for name in ("BuildAClient", "InXcode", "Waylay", "WritingAnInterceptor")] + [
    str(manifest.relative_to(ROOT)) for manifest in sorted(ROOT.glob("Examples/*/Package.swift"))]


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
        text, count = re.subn(r'\.package\((?:name: "waylay", path: "\.\./(?:waylay|\.\.)"|url: "[^"]*/waylay", from: "[^"]*")',
                              f'.package(url: "{parts[0]}", from: "{version}"', text, flags=re.I)
        if count != 1:
            sys.exit(f"{name} has {count} dependencies on this package, and should have one.")
        files[name] = text.replace("(../../deployments/github-pages)", f"({site})")
    # Its builder knows the links of DocC alone: it leads to the site.
    manifest = re.sub(r"(?m)^external_links:\n  .*\n", "", (ROOT / ".spi.yml").read_text(encoding="utf-8"))
    files[".spi.yml"] = manifest.replace("version: 1\n", f"version: 1\nexternal_links:\n  documentation: {site}\n")
    return files


def make(folder: pathlib.Path, given: str | None):
    version, text = notes(given)
    pages = addressed(version, "git@github.com:owner/waylay.git")
    rest = [name for name, page in pages.items() if re.search(r'deployments/github-pages|"\.\./(waylay|\.\.)"|<!-- checkout', page)]
    if rest or "owner.github.io" not in pages["README.md"] + pages[".spi.yml"]:
        sys.exit(f"A release would leave the words for a checkout in {rest}, or README.md without a link to the site.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for step in (["swift", "package", "--enable-all-traits", "resolve"], ["swift", "build", "--enable-all-traits", "--build-tests"],
                 ["Scripts/documentation.sh", str(folder / "site")]):
        print("$", *step, flush=True)
        subprocess.run(step, cwd=ROOT, check=True)
    (folder / "notes.md").write_text(text + "\n", encoding="utf-8")
    bill = sbom(version)
    (folder / f"waylay-{version}.cdx.json").write_text(bill + "\n", encoding="utf-8")
    shutil.make_archive(str(folder / f"waylay-{version}-documentation"), "gztar", folder / "site")
    shutil.rmtree(folder / "site")
    print(f"{version}: {bill.count('purl')} packages in the bill of materials, an address for {len(pages)} files, and {len(list(folder.iterdir()))} files in {folder}")


match sys.argv[1:]:
    case ["address", version, *given] if len(given) < 2:
        remote = given or [subprocess.run(["git", "remote", "get-url", "origin"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()]
        for name, text in addressed(version, remote[0]).items():
            (ROOT / name).write_text(text, encoding="utf-8")
    case ["make", folder, *given] if len(given) < 2: make(pathlib.Path(folder).resolve(), given[0] if given else None)
    case _: sys.exit(__doc__)
