#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh FAMILY SOURCE COMPILER FLAGS…: SOURCE must not compile, and the compiler's output must match each
# `// expect: <extended regex>` in it; `// expect-g++:` and `// expect-clang:` are for that compiler alone.
# A source named ok.cpp is the control: it must compile.
set -euo pipefail
family=$1 source=$2
shift 2

output=$(LC_ALL=C "$@" "$source" 2>&1) && compiled=yes || compiled=no

if [[ $(basename "$source") == ok.cpp ]]; then
  [[ $compiled == yes ]] && exit 0
  printf '%s\n%s\n' "$output" "$source: the control must compile"
  exit 1
fi
if [[ $compiled == yes ]]; then
  echo "$source: compiles, and must not"
  exit 1
fi

mapfile -t expected < <(sed -nE "s@^// expect(-${family//+/\\+})?: *@@p" "$source")
if [[ ${#expected[@]} -eq 0 ]]; then
  echo "$source: says nothing that it expects of $family; add a line '// expect: <extended regex>'"
  exit 1
fi
status=0
for regex in "${expected[@]}"; do
  if ! grep -qE -- "$regex" <<<"$output"; then
    echo "$source: fails to compile, but without a word of: $regex"
    status=1
  fi
done
[[ $status -eq 0 ]] || printf '%s\n' "$output"
exit $status
