"""Tune a program in any language with ``bough run``.

The space is a YAML file, the program prints a number. This script writes both and starts the command:

    python examples/any_program.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SPACE = """
level: {type: int, low: 1, high: 9}
method:
  type: choice
  options:
    deflate: {window: {type: int, low: 9, high: 15}}
    lzma: {}
"""

PROGRAM = """
import lzma, sys, zlib

given = dict(argument.split("=") for argument in sys.argv[1:])
text = " ".join(str(number**2) for number in range(20_000)).encode()
if given["method"] == "deflate":
    packer = zlib.compressobj(int(given["level"]), wbits=int(given["window"]))
    packed = packer.compress(text) + packer.flush()
else:
    packed = lzma.compress(text, preset=int(given["level"]))
print("share:", len(packed) / len(text))
"""


def main(trials: int = 12, folder: str = ".") -> None:
    Path(folder, "space.yaml").write_text(SPACE, encoding="utf-8")
    Path(folder, "compress.py").write_text(PROGRAM, encoding="utf-8")
    placeholders = ["method={method}", "level={level}", "window={window}"]
    program = [sys.executable, "compress.py", *placeholders]
    command = [sys.executable, "-m", "bough", "run", "space.yaml", "--trials", str(trials), "--seed", "0"]
    subprocess.run([*command, "--", *program], cwd=folder, check=True)


if __name__ == "__main__":
    main()
