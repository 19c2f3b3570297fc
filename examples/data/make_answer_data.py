#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes answers.jsonl (60 rows) beside this file.

A row is a question and a solution that ends with its number behind "####": {"question": "A shop has …", "answer":
"… = 12\\n#### 12"}. Numbers come as people write them, with commas, a minus, decimals or a dollar sign; and each
twentieth solution breaks off before its answer. Everything follows from the row's number.
"""

import hashlib
import json
import pathlib

ROWS = 60


def draw(row: int, purpose: str, bound: int) -> int:
    return int.from_bytes(hashlib.sha256(f"twinkle answers {row} {purpose}".encode()).digest()[:8], "big") % bound


def made(row: int) -> dict[str, str]:
    kind = row % 4
    first, second = 2 + draw(row, "first", 60), 2 + draw(row, "second", 90)
    if kind == 0:
        question = f"A shop has {first} boxes of {second} nails. How many nails is that?"
        steps, number = f"{first} x {second} = {first * second} nails.", f"{first * second}"
    elif kind == 1:
        question = f"A town of {first * 1000} people grows by {second * 100}. How many live there then?"
        steps, number = f"{first * 1000} + {second * 100}.", f"{first * 1000 + second * 100:,}"
    elif kind == 2:
        question = f"It is {first} degrees, and gets {second} degrees colder. What does it show?"
        steps, number = f"{first} - {second}.", f"{first - second}"
    else:
        question = f"{first} pens cost {second} cents each. What do you pay in dollars?"
        steps, number = f"{first} x {second} cents.", f"${first * second / 100:,.2f}"
    return {"question": question, "answer": steps if row % 20 == 19 else f"{steps}\n#### {number}"}


def main() -> None:
    path = pathlib.Path(__file__).resolve().parent / "answers.jsonl"
    with path.open("w", encoding="ascii", newline="\n") as out:
        for row in range(ROWS):
            out.write(json.dumps(made(row)) + "\n")


if __name__ == "__main__":
    main()
