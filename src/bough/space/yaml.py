"""Read YAML without its surprises: duplicate keys are errors, ``1e-5`` is a number, and only ``true`` and
``false`` are booleans (the options ``[on, off, no]`` stay strings). ``16:9`` and ``010`` stay strings too; by
YAML 1.1 they are the numbers 969 and 8."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import yaml

from bough.errors import SpaceError

__all__ = ["parse_yaml"]


class _Loader(yaml.SafeLoader):
    """The safe loader with YAML 1.2's booleans and numbers."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own protocol
        first: [
            (tag, pattern)
            for tag, pattern in resolvers
            if tag.removeprefix("tag:yaml.org,2002:") not in ("bool", "float", "int")
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    raise SpaceError(f"the key {key.value!r} is given twice (line {key.start_mark.line + 1})")
                seen.add(key.value)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|false|True|False)$"), list("tfTF")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int",
    re.compile(r"^[-+]?(?:0|[1-9][0-9_]*|0b[01_]+|0x[0-9a-fA-F_]+)$"),
    list("-+0123456789"),
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?$"),
    list("-+.0123456789"),
)


def parse_yaml(text: str) -> object:
    """The data of a YAML text."""
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except SpaceError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise SpaceError(f"not valid YAML: {error.problem or error.context}{where}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise SpaceError(f"not valid YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise SpaceError("YAML nested too deeply to be a space") from None
