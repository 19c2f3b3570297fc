# SPDX-License-Identifier: Apache-2.0
"""What is installed is whole and nothing more, can be moved, and serves a project that knows nothing of the sources."""
import json
import pathlib
import shutil
import subprocess
import sys

build = pathlib.Path(sys.argv[1])
root = pathlib.Path(__file__).resolve().parents[2]
work = pathlib.Path("work").resolve()
cache = dict(line.split("=", 1) for line in (build / "CMakeCache.txt").read_text().splitlines() if ":" in line and "=" in line)


def cached(name):
    return next(value for key, value in cache.items() if key.split(":")[0] == name)


def run(*command, good=True):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, timeout=300)
    said = done.stdout + done.stderr
    assert (done.returncode == 0) == good, f"{command} gave {done.returncode}:\n{said}"
    return " ".join(said.split())


def configure(folder, *options, good=True):
    return run("cmake", "-S", work / "project", "-B", work / folder, "-G", cached("CMAKE_GENERATOR"),
               f"-DCMAKE_CXX_COMPILER={cached('CMAKE_CXX_COMPILER')}", f"-DCMAKE_PREFIX_PATH={work / 'moved'}",
               "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options, good=good)


shutil.rmtree(work, ignore_errors=True)
run("cmake", "--install", build, "--prefix", work / "first")
shutil.move(work / "first", work / "moved")
shutil.copytree(root / "tests/install", work / "project")

# Exactly the public headers.
named = set((build / "tests/installed_headers.txt").read_text().split())
installed = {str(path.relative_to(work / "moved/include")) for path in (work / "moved/include").rglob("*") if path.is_file()}
assert installed == named, f"not installed: {sorted(named - installed)}; not public: {sorted(installed - named)}"
assert "twinkle/runtime/session.hpp" in installed and not any("caf_" in path or "roles" in path for path in installed)

# Nothing points back to where it was built or first installed.
for script in (work / "moved").rglob("*.cmake"):
    for place in (root, build, work / "first"):
        assert str(place) not in script.read_text(), f"{script.name} mentions {place}"

configure("build")
for command in json.loads((work / "build/compile_commands.json").read_text()):
    for folder in ("libtwinkle", "actors"):
        assert str(root / folder) not in command["command"], command["command"]
run("cmake", "--build", work / "build", "--parallel", "2")
assert run(work / "build/squares") == "3 steps, 12 rows"
assert run(work / "build/inside") == "3 steps inside"
assert "Status: SUCCESS!" in run(work / "build/story")
if "twinkle/torch/torch_model.hpp" in named:
    assert run(work / "build/learner") == "1 stage"
    # A machine without libtorch can use the rest.
    configure("without", "-DCMAKE_DISABLE_FIND_PACKAGE_Torch=ON")
    said = configure("lacks", "-DCMAKE_DISABLE_FIND_PACKAGE_Torch=ON", "-Dneeds=actors;torch", "-Dwants=", good=False)
    assert "twinkle::torch is installed, but libtorch is not found" in said, said
else:
    said = configure("lacks", "-Dneeds=actors;torch", "-Dwants=", good=False)
    assert "twinkle was built without libtorch, so there is no twinkle::torch" in said, said

# What cannot be had is refused by name.
said = configure("newer", "-Dversion=99", good=False)
assert 'compatible with requested version "99"' in said and f"version: {cached('CMAKE_PROJECT_VERSION')}" in said, said
said = configure("other", "-Dneeds=actors;telepathy", good=False)
assert "there is no twinkle::telepathy" in said, said
