"""Owns what every command says of a conversation: which one it is and where it stands."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from ctxcore.cli.texts import one_line
from ctxcore.messages.values import JsonObject

if TYPE_CHECKING:
    from ctxcore.formats.values import Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """One conversation without its messages."""

    path: str
    id: str
    title: str
    format: str
    model: str | None
    """The model asked for, else the one the file names."""
    parent_id: str | None

    @classmethod
    def of(cls, transcript: Transcript, model: str | None) -> About:
        """What identifies `transcript`."""
        return cls(
            path=transcript.path,
            id=transcript.id,
            title=transcript.title,
            format=transcript.format,
            model=model or transcript.model,
            parent_id=transcript.parent_id,
        )

    def to_dict(self) -> JsonObject:
        """The first keys of each result."""
        return {
            "path": self.path,
            "id": self.id,
            "title": self.title,
            "format": self.format,
            "model": self.model,
            "parent_id": self.parent_id,
        }

    def heading(self) -> Group:
        """The lines above a conversation's details."""
        where = Text(one_line(Path(self.path).name), style="bold cyan")
        where.append(f"  {self.format}", style="not bold dim")
        if self.id != Path(self.path).stem:
            where.append(f"  {one_line(self.id)}", style="not bold dim")
        if self.parent_id:
            where.append(f"  sub-agent of {one_line(self.parent_id)}", style="not bold dim")
        title = () if self.title == self.id else (Text(one_line(self.title), style="bold"),)
        return Group(where, *title)


def short_names(all_about: Sequence[About]) -> list[str]:
    """A name for each conversation in a table: its path below what all share, its id if needed."""
    paths = [Path(about.path).absolute() for about in all_about]
    if len(set(paths)) == 1:
        return [one_line(about.id) for about in all_about]
    files = Counter(paths)
    base = _common_folder(paths)
    return [
        one_line(
            _short_name(Path(os.path.relpath(path, base)), about.id, is_alone=files[path] == 1)
        )
        for path, about in zip(paths, all_about, strict=True)
    ]


def _common_folder(paths: Sequence[Path]) -> str | None:
    try:
        return os.path.commonpath([path.parent for path in paths])
    except ValueError:  # none at all, or different drives
        return None


def _short_name(path: Path, own_id: str, *, is_alone: bool) -> str:
    if is_alone:
        return str(path)
    if own_id.startswith(path.stem):
        return str(path.with_name(own_id))
    return f"{path} {own_id}"
