# SPDX-License-Identifier: Apache-2.0
"""docs/simulation.md shows what a story that fails prints, and the story of the example; its seeds are those that the
environment asks for."""
import os
import pathlib
import re
import subprocess
import sys

BUILD = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parents[2]
page = (ROOT / "docs/simulation.md").read_text()


def tell(program, **environment):
    clean = {key: value for key, value in os.environ.items() if not key.startswith("TWINKLE_")}
    done = subprocess.run([program.name, "--no-version=true"], executable=program, env=clean | environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return done.returncode, "\n".join(lines)


failing = BUILD / "tests/failing_story"
code, printed = tell(failing)
assert code == 1, printed
shown = re.search(r"^\$ failing_story\n(.*?)^```$", page, re.S | re.M)[1].strip("\n")
assert shown in printed, f"docs/simulation.md shows\n{shown}\nbut the story prints\n{printed}"

# The line behind `reproduce` is the whole of it: another seed is explained by itself, and is repeated by its own line.
code, other = tell(failing, TWINKLE_SEED="0x2a")
assert code == 1 and "seed 0x2a " in other and 'TWINKLE_SEED=0x2a failing_story -tc="' in other, other
assert tell(failing, TWINKLE_SEED="42") == (code, other), "a seed in decimals is another seed"
code, several = tell(failing, TWINKLE_SEEDS="3")
assert [f"seed 0x{seed} " in several for seed in (1, 2, 3, 4)] == [True, True, True, False], several
code, wrong = tell(failing, TWINKLE_SEED="one")
assert code == 1 and "TWINKLE_SEED is 'one', which is not a number that it can hold" in wrong, wrong

# What the page shows of the verb, where there is torch.
shown = re.findall(r"^\$ grpo_sort (simulate[^\n]*)\n(.*?)^```$", page, re.S | re.M)
assert shown, "docs/simulation.md shows no run of grpo_sort"
for arguments, wanted in shown:
    if (BUILD / "examples/grpo_sort").exists():
        said = subprocess.run([BUILD / "examples/grpo_sort", *arguments.split()], capture_output=True, text=True, timeout=300)
        assert said.returncode == 0 and said.stdout == wanted, f"grpo_sort {arguments} prints\n{said.stdout}{said.stderr}"

# The example, which passes, is what the page shows.
example = (ROOT / "examples/simulated_story.cpp").read_text()
story = re.search(r"// \[story\]\n(.*?)// \[story\]", example, re.S)[1]
assert story in page, "docs/simulation.md and examples/simulated_story.cpp differ; copy the part between the [story] marks"

# What the table says is there.
header = (ROOT / "actors/include/twinkle/sim/story.hpp").read_text()
rows = re.findall(r"^\| [^|]+ \| (`.*) \|$", page, re.M)
names = {name for row in rows for name in re.findall(r"\b([a-z_]+)\(", row)} - {"heavy_tail"}
for name in names:
    assert re.search(rf"\b{name}\(", header), f"docs/simulation.md says {name}(…), which a story has not"
assert len(names) > 15, names
