#!/usr/bin/env python3
"""Checks who includes whom in include/ and src/ against the tables of ARCHITECTURE.md.

Run it from anywhere, without arguments: exit 0 when every #include keeps the rules, 1 with one
`file:line: rule` per breach. `--root DIR` checks another tree (the test's fixtures).
"""

import argparse
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
STANDARD = re.compile(r"^[a-z_0-9]+$")  # <vector>, <cstdint>; never a path, never .h
SOURCES = {".h", ".cc", ".inc"}


def table_rows(text, heading):
    """The cells of the first table below a heading, without its two header lines."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("#") and heading in line:
            break
    else:
        raise SystemExit(f"ARCHITECTURE.md has no heading with '{heading}'")
    rows = []
    for line in lines:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows or line.startswith("#"):
            break
    return rows[2:]


def read_floors(text):
    """folder -> set of folders it may include, from the table of floors."""
    allowed = {}
    above = []
    for _, names, _, may in table_rows(text, "floors"):
        # "nn (nn/positions)" names a subfolder of nn; "inspect, check" names two folders.
        folders = [name.strip() for name in re.sub(r"\(.*?\)", "", names).split(",")]
        if may == "public headers only":
            rights = {"public"}
        elif may.startswith("all of the above"):
            rights = set(above) - set(re.findall(r"\w+", may.partition("but")[2]))
        elif may == "nothing of ours":
            rights = set()
        else:
            rights = set(re.findall(r"\w+", may))
            unknown = rights - set(above)
            if unknown:
                raise SystemExit(f"ARCHITECTURE.md: {names} names {sorted(unknown)}, not on a floor below")
        for folder in folders:
            allowed[folder] = rights | ({folder, "base"} if rights != {"public"} else {folder})
        above += folders
    return allowed


def read_third_parties(text):
    """(header prefix, folders that may include it) for every library of the table."""
    return [
        (prefix.strip(" `"), set(re.findall(r"\w+", folders)))
        for _, prefixes, folders in table_rows(text, "third parties")
        for prefix in prefixes.split(",")
    ]


def third_party_breach(name, folder, third_parties):
    for prefix, folders in third_parties:
        if name.startswith(prefix) and folder not in folders:
            return f"<{name}> belongs to {', '.join(sorted(folders))} alone"
    return None


def breach_of(name, quoted, public, folder, allowed, third_parties, root):
    """The rule that one include breaks, or None."""
    if name.startswith("volvelle/"):
        parts = name.split("/")
        if not (root / "include" / name).is_file():
            return f"no such public header: {name}"
        if len(parts) > 2 and parts[1] != folder and "public" not in allowed[folder]:
            if parts[1] not in allowed[folder]:
                return f"{folder} may not include {parts[1]} ({name})"
        return None
    if public:
        if quoted:
            return f"a public header includes public headers only, as volvelle/...: {name}"
        if not STANDARD.match(name):
            return f"a public header includes public headers and the standard library only: <{name}>"
        return None
    if not quoted:
        return third_party_breach(name, folder, third_parties)
    if not (root / "src" / name).is_file():
        return f"no such file in src/: {name} (write folder/name.h)"
    target = name.split("/")[0]
    if target not in allowed[folder]:
        return f"{folder} may not include {target} ({name})"
    return None


def check_file(path, public, folder, allowed, third_parties, root):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted = match.group(1) is not None
        name = match.group(1) or match.group(2)
        rule = breach_of(name, quoted, public, folder, allowed, third_parties, root)
        if rule:
            yield f"{path.relative_to(root)}:{number}: {rule}"


def check_tree(root):
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    allowed, third_parties = read_floors(text), read_third_parties(text)
    breaches, files = [], 0
    for base, public in ((root / "include" / "volvelle", True), (root / "src", False)):
        for path in sorted(base.rglob("*")):
            if path.suffix not in SOURCES or not path.is_file():
                continue
            files += 1
            parts = path.relative_to(base).parts
            where = f"{path.relative_to(root)}:1"
            if len(parts) == 1:
                breaches.append(f"{where}: a file lives in a folder of the table of floors")
            elif parts[0] not in allowed:
                breaches.append(f"{where}: the folder {parts[0]} is not in the table of floors")
            else:
                breaches += check_file(path, public, parts[0], allowed, third_parties, root)
    return files, breaches


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    files, breaches = check_tree(parser.parse_args().root.resolve())
    for breach in breaches:
        print(breach)
    if breaches:
        return 1
    if files == 0:
        print("nothing to check: no sources under include/volvelle and src")
        return 1
    print(f"layers: {files} files keep the rules of ARCHITECTURE.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
