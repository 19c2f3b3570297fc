#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A compiler launcher: checks the source, and touches the object instead of making it.
set -euo pipefail
"$@" -fsyntax-only -Wno-unused-command-line-argument
while [[ $1 != -o ]]; do shift; done
touch "$2"
