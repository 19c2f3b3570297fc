#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes sort_train.jsonl (4,096 rows) and sort_heldout.jsonl (512 rows) beside this file.

A row is a number of five digits and its digits in ascending order: {"prompt": "s40962=", "answer": "02469"}.
No number occurs twice, in one file or across the two. The order is that of a hash, so it is the same everywhere.
"""

import hashlib
import json
import pathlib

TRAIN_ROWS = 4096
HELDOUT_ROWS = 512


def order(digits: str) -> bytes:
    return hashlib.sha256(f"twinkle sort {digits}".encode()).digest()


def write(path: pathlib.Path, numbers: list[str]) -> None:
    with path.open("w", encoding="ascii", newline="\n") as out:
        for digits in numbers:
            out.write(json.dumps({"prompt": f"s{digits}=", "answer": "".join(sorted(digits))}) + "\n")


def main() -> None:
    folder = pathlib.Path(__file__).resolve().parent
    numbers = sorted((f"{number:05d}" for number in range(100_000)), key=order)
    write(folder / "sort_train.jsonl", numbers[:TRAIN_ROWS])
    write(folder / "sort_heldout.jsonl", numbers[TRAIN_ROWS : TRAIN_ROWS + HELDOUT_ROWS])


if __name__ == "__main__":
    main()
