# SPDX-License-Identifier: Apache-2.0
"""What a user gets wrong, and what the program says: where, with which values, and what to do."""
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(sys.argv[1])
TOY = BUILD / "tests" / "toy_program"
SORT = BUILD / "examples" / "grpo_sort"


def refused(code, words, program, *arguments):
    run = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)
    said = run.stdout + run.stderr
    assert run.returncode == code, (run.returncode, said)
    for word in words:
        assert word in said, f"'{word}' is not in:\n{said}"
    print("ok", program.name, *arguments)


refused(2, ["--stepz"], TOY, "--stepz", "3")
refused(2, ["--save-every", "-3"], TOY, "--save-every", "-3")
refused(1, ["--steps is 'many'", "not a number"], TOY, "--steps", "many")
refused(1, ["fault", "toy_program/model[dp=1]@local:gpu5 in train", "planted in train"], TOY, "--harm", "throw-train")
refused(1, ["toy_program/sampler[dp=", "in sample", "no column 'prompt'", "its columns are number"], TOY, "--harm",
        "missing-column")
refused(1, ["cannot run", "sampler.sample may get as few as 2 rows for its 4 data ranks"], TOY, "--rows", "2")

if SORT.exists():
    refused(1, ["no-such-file.jsonl"], SORT, "--data", "no-such-file.jsonl")
    pathlib.Path("broken.jsonl").write_text('{"prompt": "s1=", "answer": "1"}\n{"prompt": "s2=", "answer"\n' * 40)
    refused(1, ["broken.jsonl", "line 2"], SORT, "--data", "broken.jsonl")
    refused(1, ["-1 ranks"], SORT, "plan", "--sampler-dp", "-1")
    refused(1, ["sampler.sample may get as few as 32 rows for its 64 data ranks"], SORT, "plan", "--sampler-dp", "64")
