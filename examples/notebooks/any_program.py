# %% [markdown]
# # Tune any program
#
# A program in any language takes its parameters from the command line and prints a number. `bough run` starts it,
# reads the number and decides what to try next. Here the program compresses a file; it is written in Python so that
# this notebook needs nothing else. It needs `pip install 'bough-opt[plot]'`.

# %%
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

import bough

folder = Path(mkdtemp())
program = """
import argparse, lzma, sys, zlib

given = dict(argument.split("=") for argument in sys.argv[1:])
text = open(argparse.__file__, "rb").read()
if given["method"] == "deflate":
    window, strategy = int(given["window"]), int(given["strategy"])
    packer = zlib.compressobj(int(given["level"]), wbits=window, strategy=strategy)
    packed = packer.compress(text) + packer.flush()
else:
    options = {name: int(given[name]) for name in ("lc", "pb", "nice_len")}
    options |= {"id": lzma.FILTER_LZMA2, "preset": int(given["level"])}
    packed = lzma.compress(text, filters=[options])
print("share:", len(packed) / len(text))
"""
written = (folder / "compress.py").write_text(program)

# %% [markdown]
# ## The space is a file
#
# A parameter of one method exists only there. The program gets no argument for a parameter that does not exist.

# %%
space = """
level: {type: int, low: 1, high: 9}
method:
  type: choice
  options:
    deflate:
      window: {type: int, low: 9, high: 15}
      strategy: {type: categorical, options: [0, 1, 2, 3]}
    lzma:
      lc: {type: int, low: 0, high: 4}
      pb: {type: int, low: 0, high: 4}
      nice_len: {type: int, low: 5, high: 273, log: true}
"""
written = (folder / "space.yaml").write_text(space)
bough.Space.load(folder / "space.yaml")

# %% [markdown]
# ## Run it
#
# In a terminal this is `bough run space.yaml --trials 30 -- python compress.py method={method} level={level} ...`.
# An argument whose parameter does not exist is left out.

# %%
arguments = [
    f"{name}={{{name}}}" for name in ("method", "level", "window", "strategy", "lc", "pb", "nice_len")
]
program = [sys.executable, "compress.py", *arguments]
command = [
    sys.executable,
    "-m",
    "bough",
    "run",
    "space.yaml",
    "--trials",
    "30",
    "--seed",
    "0",
    "--name",
    "compress",
]
done = subprocess.run([*command, "--", *program], cwd=folder, capture_output=True, text=True, check=True)
print(done.stdout)

# %% [markdown]
# ## Look at it
#
# The trials are in a database beside the program. Running the same command again goes on from there, also after a crash.

# %%
study = bough.open_study("compress", f"sqlite:///{folder}/bough.db")
study

# %%
bough.plot.branches(study)

# %%
bough.plot.history(study)
