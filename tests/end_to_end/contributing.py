# SPDX-License-Identifier: Apache-2.0
"""Each C++ excerpt in CONTRIBUTING.md is in the file that the line before it names, to the letter."""
import pathlib
import re

root = pathlib.Path(__file__).resolve().parents[2]
text = (root / "CONTRIBUTING.md").read_text()
excerpts = re.findall(r"`([\w./]+)`:\n\n```cpp\n(.*?)```", text, re.S)
assert len(excerpts) == text.count("```cpp"), "an excerpt in CONTRIBUTING.md does not say which file it is from"
assert len(excerpts) >= 4, "the example has a declaration, a body, unit tests and a property test"
for path, code in excerpts:
    assert code in (root / path).read_text(), f"CONTRIBUTING.md quotes {path} as it is no more:\n{code}\ncopy it again"
