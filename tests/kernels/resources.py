#!/usr/bin/env python3
"""Reads what ptxas made of every kernel of an architecture in a program and holds it to the limits
that sm_80 and sm_90 share.

usage: resources.py PROGRAM ARCHITECTURE. Prints one line a kernel. Exit status 1 where a kernel does not
fit or spills more than a little, 77 (skipped) without cuobjdump. The CUDA toolkit has it; where
only the compiler is installed it is taken from PyPI, into .venv.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

REGISTERS = 255  # a thread
STATIC_SHARED = 49152  # bytes a block, without opting in to more
SPILLED = 128  # bytes a thread: reloads outside the inner loop, not a working set


def find_cuobjdump(root):
    for found in (shutil.which("cuobjdump"), "/usr/local/cuda/bin/cuobjdump"):
        if found and os.access(found, os.X_OK):
            return found
    home = root / ".venv"
    python = home / "bin" / "python"
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "nvidia-cuda-cuobjdump"], check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: no cuobjdump, and it could not be installed: {error}")
        sys.exit(77)
    for found in home.glob("lib/python*/site-packages/nvidia/**/cuobjdump"):
        found.chmod(0o755)
        return str(found)
    print("skipped: the package nvidia-cuda-cuobjdump holds no cuobjdump")
    sys.exit(77)


def kernels(text):
    """(name, {REG: n, STACK: n, ...}) of each function; names demangled where c++filt is there."""
    if shutil.which("c++filt"):
        text = subprocess.run(
            ["c++filt"], input=text, capture_output=True, text=True, check=True
        ).stdout
    lines = text.splitlines()
    for line, usage in zip(lines, lines[1:]):
        match = re.match(r" Function (.*):$", line)
        if match:
            yield match[1], {k: int(v) for k, v in re.findall(r"(\w+)(?:\[\d\])?:(\d+)", usage)}


def main():
    program, architecture = sys.argv[1:]
    tool = find_cuobjdump(pathlib.Path(__file__).resolve().parents[2])
    text = subprocess.run(
        [tool, "--dump-resource-usage", "-arch", architecture, program],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = failed = 0
    for name, usage in kernels(text):
        found += 1
        local = usage["STACK"] + usage["LOCAL"]
        fits = usage["REG"] <= REGISTERS and usage["SHARED"] <= STATIC_SHARED and local <= SPILLED
        failed += not fits
        print(
            f"{'fits' if fits else 'FAIL'}  {usage['REG']:3} registers  {local:4} bytes local  "
            f"{usage['SHARED']:6} bytes shared  {name[:110]}"
        )
    print(f"{found} kernels, {failed} outside the limits")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
