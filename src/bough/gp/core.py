"""The compiled core (``bough_core``), where it is installed; NumPy computes the same without it.

By default the core is used if it is installed. The environment variable ``BOUGH_CORE`` changes that:
``numpy`` never uses the core, ``compiled`` requires it. If the core has another version or cannot be loaded,
bough warns once and uses NumPy.
"""

from __future__ import annotations

import functools
import importlib
import os
import warnings
from types import ModuleType

from bough.errors import MethodError, MissingExtraError

__all__ = ["compiled_core", "describe"]

ABI_VERSION = 6
"""Version of the layout of the arrays that the core gets; ``core/src/module.c`` has the same number."""


@functools.cache
def compiled_core() -> ModuleType | None:
    """The compiled module, or None if NumPy is used."""
    wanted = os.environ.get("BOUGH_CORE", "")
    if wanted not in ("", "numpy", "compiled"):
        raise MethodError(f"BOUGH_CORE is {wanted!r}: set it to numpy or compiled, or unset it")
    if wanted == "numpy":
        return None
    problem = ""
    try:
        core = importlib.import_module("bough_core")
        if core.ABI_VERSION == ABI_VERSION:
            return core
        problem = f"it is of version {core.ABI_VERSION}, this bough needs {ABI_VERSION}"
    except ModuleNotFoundError:
        if wanted != "compiled":
            return None
        problem = "it is not installed"
    except Exception as error:  # a broken library may raise anything
        problem = f"it cannot be loaded ({error})"
    advice = "pip install --upgrade bough-opt-core"
    if wanted == "compiled":
        raise MissingExtraError(
            f"BOUGH_CORE=compiled, but the compiled core cannot be used: {problem}; {advice}"
        )
    warnings.warn(f"bough computes in NumPy, without its compiled core: {problem}; {advice}", stacklevel=2)
    return None


def describe() -> str:
    """The engine in use, for ``bough --version``."""
    core = compiled_core()
    return f"compiled core ({core.variant()})" if core else "NumPy, no compiled core"
