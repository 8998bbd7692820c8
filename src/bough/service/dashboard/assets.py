"""The files that pages load: files of this package, and plotly.js from the installed ``plotly``.

They are in a fixed list of names, so no path in a request is ever looked up on disk.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["Asset", "assets", "style_ids"]

_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True)
class Asset:
    """A file, read and compressed on its first request."""

    source: Traversable

    @property
    def media_type(self) -> str:
        return _TYPES[self.source.name.rpartition(".")[2]]

    @cached_property
    def body(self) -> bytes:
        return self.source.read_bytes()

    @cached_property
    def compressed(self) -> bytes:
        return gzip.compress(self.body, 6, mtime=0)

    @cached_property
    def tag(self) -> str:
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'


def style_ids(plotly: Asset) -> list[str]:
    """Ids of style elements that plotly.js adds (for its maps) unless an element has that id already.

    The content policy forbids inline styles, so the page has an empty element with each id instead.
    """
    return [found.decode() for found in re.findall(rb'getElementById\("([0-9a-f]{64})"\)', plotly.body)]


def assets() -> dict[str, Asset]:
    """All files by name."""
    own = files("bough.service.dashboard").joinpath("static")
    found = {each.name: Asset(each) for each in own.iterdir() if each.name.rpartition(".")[2] in _TYPES}
    plotly = files("plotly").joinpath("package_data", "plotly.min.js")
    return {**found, "plotly.min.js": Asset(plotly)}
