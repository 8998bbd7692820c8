"""Everything bough raises on purpose. Each message is one line: what is at fault, what would be right."""

import contextlib
from collections.abc import Iterator

__all__ = [
    "BoughError",
    "ConditionError",
    "ConfigError",
    "ConflictError",
    "ExhaustedError",
    "MalformedError",
    "MethodError",
    "MissingExtraError",
    "ServiceError",
    "SpaceError",
    "StorageError",
    "StudyError",
    "Transient",
    "TrialError",
]


class BoughError(Exception):
    """Base of all errors that bough raises on purpose."""


class SpaceError(BoughError, ValueError):
    """A search space, or a file that describes one, is malformed."""


class ConditionError(SpaceError):
    """An expression of ``when=``, ``forbid=`` or ``require=`` is malformed or has an unknown name."""


class ConfigError(BoughError, ValueError):
    """A configuration does not belong to the space."""


class MethodError(BoughError, ValueError):
    """An unknown method, or an option that the method does not have."""


class MissingExtraError(BoughError, ImportError):
    """An optional dependency is not installed."""


class StudyError(BoughError):
    """A study does not exist, exists already, or differs from what was asked for."""


class MalformedError(StudyError):
    """An argument of a study or of one of its methods is malformed, whatever the state of the study."""


class Transient(BoughError):
    """An objective raises this if the trial failed for a reason that has nothing to do with its config.

    ``run`` puts the trial back into the queue. No method learns from it, even when the attempts are used up.
    """


class TrialError(BoughError):
    """A trial does not exist, or is not in a state that allows what was asked for."""


class ConflictError(TrialError):
    """A trial that already has a result was told a different one."""


class ExhaustedError(BoughError):
    """Every configuration of a finite space has been tried."""


class StorageError(BoughError):
    """The storage cannot be opened, read or written."""


class ServiceError(BoughError):
    """A served study cannot be reached, or refused the request."""


@contextlib.contextmanager
def about_parameter(name: str) -> Iterator[None]:
    """Add the parameter's name to a SpaceError that is raised in the block."""
    try:
        yield
    except SpaceError as error:
        raise type(error)(f"parameter {name!r}: {error}") from None
