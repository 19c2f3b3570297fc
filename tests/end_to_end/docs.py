# SPDX-License-Identifier: Apache-2.0
"""Every `$ twinkle …` in the README and in docs is run, and what is shown behind it is what it prints.

A block of TOML that begins with `# name.toml` is a file of that name for the commands below it.
"""
import pathlib
import re
import shlex
import subprocess
import sys

TWINKLE = pathlib.Path(sys.argv[1]) / "tools" / "twinkle"
ROOT = pathlib.Path(__file__).resolve().parents[2]


def commands(block):
    """Each command of a block, and the lines shown behind it."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        if command.startswith("twinkle "):
            yield command, shown.rstrip("\n")


def check(page):
    count = 0
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.S | re.M):
        if name := re.match(r"# (\w+\.toml)\n", block):
            assert language == "toml", f"{page.name}: {name[1]} is a block of '{language}', not of toml"
            pathlib.Path(name[1]).write_text(block)
        for command, shown in commands(block):
            done = subprocess.run([TWINKLE, *shlex.split(command)[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=60)
            printed = done.stdout.rstrip("\n")
            assert shown == printed, f"{page.name}: '$ {command}' shows\n{shown}\nbut prints\n{printed}"
            count += 1
    return count


counts = {page.name: check(page) for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
print("commands that show what they print:", counts)
for page in ("mesh.md", "nodes.md", "placement.md", "splits.md", "transfers.md"):
    assert counts.get(page), f"docs/{page} shows no command"
