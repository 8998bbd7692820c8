"""Write the help text of every command into the page of commands, so that the page cannot fall behind."""

from __future__ import annotations

from typing import Any

import click

from bough.cli.main import bough

MARK = "<!-- commands -->"


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    if page.file.src_uri != "commands.md":
        return markdown
    return markdown.replace(MARK, "\n\n".join(_sections(bough, "bough")))


def _sections(group: click.Group, path: str) -> list[str]:
    sections = []
    context = click.Context(group, info_name=path)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        own = click.Context(command, info_name=name, parent=context, max_content_width=88, terminal_width=88)
        sections.append(f"## {path} {name}\n\n```text\n{command.get_help(own)}\n```")
        if isinstance(command, click.Group):
            sections += _sections(command, f"{path} {name}")
    return sections
