"""Convert between Spaces and ConfigSpace's objects, and write Spaces as ConfigSpace's JSON.

``bough.Space.load`` reads ConfigSpace's JSON files directly. Objects are converted through the same JSON
format. ``bough.integrations.configspace_import`` describes how NEQ conditions on inactive parents are read,
and which properties a Space cannot hold.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from bough.errors import MissingExtraError, SpaceError
from bough.integrations.configspace_export import to_configspace_dict
from bough.space import Space

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace

__all__ = ["from_configspace", "to_configspace", "to_configspace_dict"]


def from_configspace(theirs: ConfigurationSpace) -> Space:
    """The Space that a ConfigurationSpace describes."""
    if not hasattr(theirs, "to_serialized_dict"):
        raise SpaceError(f"from_configspace needs a ConfigurationSpace, not {type(theirs).__name__}")
    data: dict[str, Any] = theirs.to_serialized_dict()
    if theirs.meta and "bough" in theirs.meta:
        data["bough"] = theirs.meta["bough"]
    return Space.from_json(data)


def to_configspace(space: Space) -> ConfigurationSpace:
    """A ConfigurationSpace with the same configs; ``from_configspace`` returns an equal Space.

    Parameters that share a name get their paths as names, such as ``model=svm/C``.
    """
    try:
        from ConfigSpace import ConfigurationSpace
    except ImportError:
        raise MissingExtraError(
            "ConfigSpace is not installed: pip install 'bough-opt[configspace]'"
        ) from None
    if not isinstance(space, Space):
        raise SpaceError(f"to_configspace needs a bough.Space, not {type(space).__name__}")
    data = to_configspace_dict(space)
    own = data.pop("bough", None)
    theirs = ConfigurationSpace.from_serialized_dict(copy.deepcopy(data))  # it takes the dict apart
    theirs.meta = None if own is None else {"bough": own}
    return theirs
