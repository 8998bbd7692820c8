"""Makes ``os.fork`` safe for open studies.

A fork causes two problems. First, SQLite keeps a table of the files that a process has open. A child that
inherits this table behaves as if it already held the shared lock on the file, so it never takes the lock. The
next process that closes the file then deletes the log under the child, whose commits vanish without an error.
Second, a lock that another thread holds at the moment of the fork stays locked in the child.

So everything that holds a lock or a connection registers here. ``before_fork`` runs in the forking thread: it
takes the lock and closes the connection. ``after_fork`` runs in both processes: it releases the lock. The
connection is opened again on its next use.

The registry is module state because Python's fork hooks are global and cannot be unregistered.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from functools import cached_property
from typing import Protocol

__all__ = ["ForkAware", "register"]


class ForkAware(Protocol):
    """An object with a lock or a connection that must be released before the process forks."""

    def before_fork(self) -> None: ...

    def after_fork(self, child: bool) -> None: ...


_registered: weakref.WeakSet[ForkAware] = weakref.WeakSet()
_registry_lock = threading.RLock()  # held during a fork, so nothing registers between "before" and "after"
_at_rest: list[ForkAware] = []  # strong references: what is locked for the fork must be unlocked after it


def register(participant: ForkAware) -> None:
    """Call the participant's hooks at every fork while it exists."""
    with _registry_lock:
        _registered.add(participant)


def _before_fork() -> None:
    _registry_lock.acquire()
    for participant in list(_registered):
        participant.before_fork()
        _at_rest.append(participant)


def _after_fork(child: bool) -> None:
    while _at_rest:
        _at_rest.pop().after_fork(child)
    _registry_lock.release()
    if child and sys.version_info < (3, 12):
        _renew_property_locks()


def _renew_property_locks() -> None:
    """Before Python 3.12 a ``cached_property`` has a lock; a thread that the child lacks may hold it."""
    for name, module in list(sys.modules.items()):
        if name.startswith("bough."):
            for kind in list(vars(module).values()):
                for member in vars(kind).values() if isinstance(kind, type) else ():
                    if isinstance(member, cached_property):
                        member.lock = threading.RLock()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):  # not on Windows, which cannot fork
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=lambda: _after_fork(child=False),
        after_in_child=lambda: _after_fork(child=True),
    )
