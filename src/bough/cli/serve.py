"""``bough serve`` starts the service with its dashboard; ``bough token`` makes, lists and revokes tokens."""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
from typing import TYPE_CHECKING

import click

from bough.cli.options import existing, json_option, listing, storage_option
from bough.errors import MissingExtraError, ServiceError

if TYPE_CHECKING:
    from bough.service.records import Records

__all__ = ["serve", "token"]


def _host_names(_: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    for name in given:
        if not re.fullmatch(r"[\w.-]+", name):
            raise click.BadParameter(
                f"{name!r} must be a host name such as tuning.example.org, without port or path"
            )
    return given


def _addresses(_: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    for address in given:
        try:
            ipaddress.ip_address(address)
        except ValueError:
            raise click.BadParameter(f"{address!r} is not an IP address") from None
    return given


@click.command()
@storage_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
@click.option(
    "--allow-host",
    "names",
    multiple=True,
    metavar="NAME",
    callback=_host_names,
    help="A host name of the service, besides localhost and IP addresses; may be repeated.",
)
@click.option(
    "--behind-tls", is_flag=True, help="The service is behind an https proxy: mark session cookies as secure."
)
@click.option(
    "--trust-proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    callback=_addresses,
    help="Address of a proxy whose X-Forwarded-For header names the client; may be repeated.",
)
@click.option(
    "--grace",
    default=8,
    show_default=True,
    type=click.IntRange(1, 3600),
    help="Seconds for running requests to finish when the service stops; clients resend the others.",
)
def serve(
    storage: str,
    host: str,
    port: int,
    names: tuple[str, ...],
    behind_tls: bool,
    proxies: tuple[str, ...],
    grace: int,
) -> None:
    """Serve studies over REST, with a page to watch them.

    The first start makes a token and shows it once; 'bough token' makes more.

    \b
    Examples:
      bough serve
      bough serve --storage postgresql://me@server/bough --host 0.0.0.0 --allow-host tuning.example.org
    """
    try:
        from bough.service.app import create_app
        from bough.service.records import Records
        from bough.service.server import make_server, run_server
    except ImportError as error:
        raise MissingExtraError(
            f"the service needs {error.name}, which is not installed: pip install 'bough-opt[serve]'"
        ) from None

    records = Records(storage)
    names = (*names, socket.gethostname().lower()) if not _loopback(host) else names
    app = create_app(storage, hosts=names, records=records, secure=behind_tls)
    with contextlib.closing(_listen(host, port)) as listening:
        first = _first_token(records, host)  # only now, when it is certain to be shown
        address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        click.echo(f"bough serves {records.where} at {address} (Ctrl-C ends it)")
        if first:
            click.echo(f"a token to sign in with, shown only now: {first}")
        run_server(make_server(app, grace=grace, proxies=proxies), listening)


def _first_token(records: Records, host: str) -> str | None:
    """A new token if there is none; on an address that others can reach, the owner must make it instead."""
    from bough.service.auth import create_token

    if any(row.revoked is None for row in records.tokens()):
        return None
    if not _loopback(host):
        raise ServiceError(f"nobody could sign in: run 'bough token create' before serving on {host}")
    return create_token(records, "first", "write")


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off Nagle's algorithm, which adds 40 ms to replies, only if the socket names TCP.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()  # now, because clients may connect as soon as they read the printed address
    except OSError as error:
        listening.close()
        raise ServiceError(f"cannot listen on {host} port {port}: {error.strerror}") from None
    return listening


@click.group()
def token() -> None:
    """Make, list and revoke the tokens of a service."""


@token.command()
@storage_option
@click.option("--name", default="token", show_default=True, help="The token's owner or purpose.")
@click.option("--scope", type=click.Choice(["read", "write"]), default="write", show_default=True)
def create(storage: str, name: str, scope: str) -> None:
    """Make a token. It is shown only once, on the last line."""
    from bough.service.auth import create_token

    made = create_token(_records(storage), name, scope)
    click.echo(f"token {name!r} with scope {scope}; it cannot be shown again:", err=True)
    click.echo(made)


@token.command("list")
@storage_option
@json_option
def list_(storage: str, json_: bool) -> None:
    """List the tokens, without their secrets."""
    tokens = _records(existing(storage), create=False).tokens()
    columns = ("id", "name", "scope", "created", "revoked")
    rows = [{name: getattr(row, name) for name in columns} for row in tokens]
    listing(rows, json_, "no tokens yet: make one with 'bough token create'", (*columns[:-1], ""))


@token.command()
@click.argument("id")
@storage_option
def revoke(id: str, storage: str) -> None:
    """Revoke a token and its browser sessions, at once."""
    id = id.removeprefix("bough_").partition("_")[0]  # people paste whole tokens
    if not _records(existing(storage), create=False).revoke(id):
        raise ServiceError(f"there is no active token {id!r}: see 'bough token list'")
    click.echo(f"revoked {id}", err=True)


def _records(storage: str, *, create: bool = True) -> Records:
    from bough.service.records import Records

    return Records(storage, create=create)
