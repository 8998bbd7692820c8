"""The one reader of JSON from outside: files of spaces and studies, bodies of requests.

It refuses some input that Python's own reader accepts: NaN and infinities, a key given twice, numbers beyond
all floats, unbounded nesting.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

__all__ = ["MAX_DEPTH", "JsonError", "finite", "loads"]

MAX_DEPTH = 100


class JsonError(ValueError):
    """The text is not JSON that we accept; one line says why."""


def loads(text: bytes | str, *, max_depth: int = MAX_DEPTH, any_text: bool = False) -> Any:
    """The data of a JSON text; JsonError if there is anything wrong with it.

    any_text: also accept NUL and halves of surrogate pairs inside texts, which databases cannot hold.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        data = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_bounded,
        )
    except JsonError:
        raise
    except UnicodeDecodeError:
        raise JsonError("not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise JsonError(f"not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise JsonError(f"JSON may be nested {max_depth} levels deep at most") from None
    _check_depth(data, max_depth)
    if not any_text:
        _check_text(text)
    return data


def finite(data: Any) -> Any:
    """The data with null for infinities and NaN, which JSON cannot hold."""
    if isinstance(data, dict):
        return {name: finite(each) for name, each in data.items()}
    if isinstance(data, list):
        return [finite(each) for each in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def _check_depth(data: Any, max_depth: int) -> None:
    level = [data]
    for _ in range(max_depth + 1):
        level = [
            child
            for value in level
            if isinstance(value, (dict, list))
            for child in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return
    raise JsonError(f"JSON may be nested {max_depth} levels deep at most")


def _check_text(text: str) -> None:
    """No NUL and no half of a surrogate pair: databases cannot hold them."""
    lower = text.lower()
    if "\\u0000" in lower:
        raise JsonError("text may not contain NUL")
    if "\\ud" in lower:
        try:
            json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise JsonError("text may not contain half of a surrogate pair") from None


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data:
            raise JsonError(f"the key {key[:60]!r} is given twice in one object")
        data[key] = value
    return data


def _no_constant(name: str) -> Any:
    raise JsonError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JsonError(f"the number {text[:20]} is too large")
    return number


def _bounded(text: str) -> int:
    if len(text.lstrip("-")) > 308:
        raise JsonError(f"the number {text[:20]}... is too large")
    return int(text)
