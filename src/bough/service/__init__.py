"""The service: studies over REST, a dashboard, and SigOpt's protocol (extra ``serve``).

``create_app(storage)`` is the ASGI application that ``bough serve`` runs. Start reading at ``app``. Every
request passes ``security_middleware`` (hosts, tokens, limits, headers) before it reaches a route.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bough.service.app import create_app as create_app

__all__ = ["create_app"]


def __getattr__(name: str) -> Any:
    if name != "create_app":
        raise AttributeError(f"module 'bough.service' has no attribute {name!r}")
    from bough.service.app import create_app

    return create_app
