# SPDX-License-Identifier: Apache-2.0
"""The program in the README is the compiled example, to the letter, and short."""
import pathlib
import re

root = pathlib.Path(__file__).resolve().parents[2]
shown = re.search(r"```cpp\n(.*?)```", (root / "README.md").read_text(), re.S).group(1)
compiled = re.search(r"// \[pipeline\]\n(.*?)// \[pipeline\]", (root / "examples/grpo_sort.cpp").read_text(), re.S).group(1)
assert shown == compiled, "README.md and examples/grpo_sort.cpp differ; copy the part between the [pipeline] marks"
assert len(shown.splitlines()) < 30
