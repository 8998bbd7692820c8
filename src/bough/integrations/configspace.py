"""ConfigSpace objects as Spaces and back, and Spaces as ConfigSpace's JSON.

``bough.Space.load`` reads ConfigSpace's JSON files by itself. Objects take the same way through the JSON
format; ``bough.space.configspace`` says how NEQ conditions on inactive parents are understood,
and names in a warning what a Space cannot hold.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from bough.errors import MissingExtraError
from bough.space import Space
from bough.space.configspace_export import to_configspace_dict

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace

__all__ = ["from_configspace", "to_configspace", "to_configspace_dict"]


def from_configspace(theirs: ConfigurationSpace) -> Space:
    """The Space that a ConfigurationSpace describes."""
    data: dict[str, Any] = theirs.to_serialized_dict()
    if theirs.meta and "bough" in theirs.meta:
        data["bough"] = theirs.meta["bough"]
    return Space.from_json(data)


def to_configspace(space: Space) -> ConfigurationSpace:
    """A ConfigurationSpace with the same configs; ``from_configspace`` gives back an equal Space.

    Parameters that share a name are called by their paths there, such as ``model=svm/C``.
    """
    try:
        from ConfigSpace import ConfigurationSpace
    except ImportError:
        raise MissingExtraError(
            "ConfigSpace is not installed: pip install 'bough-opt[configspace]'"
        ) from None
    data = to_configspace_dict(space)
    own = data.pop("bough", None)
    theirs = ConfigurationSpace.from_serialized_dict(copy.deepcopy(data))  # it takes the dict apart
    theirs.meta = None if own is None else {"bough": own}
    return theirs
