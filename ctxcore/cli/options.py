"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ctxcore.policy.values import Policy

Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH",
        help="Transcripts (`ctxcore formats` lists their forms), folders of them, or - for stdin.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else on stdout.")
]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV, for spreadsheets.")]
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="A file or an address; default: CTXCORE_DATABASE_URL, or the user's data folder.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Work on a Dask cluster, at the address of its scheduler, e.g. tcp://10.0.0.5:8786.",
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", metavar="N", min=1, help="Processes; default: one a core.")
]
ConversationId = Annotated[
    str | None,
    typer.Option("--id", metavar="ID", help="Only conversations whose id starts with ID."),
]
ShowAll = Annotated[
    bool, typer.Option("--all", help="Details of every conversation instead of a table.")
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Model for token counting and window size; default: the model named in the file.",
    ),
]
Window = Annotated[
    int | None,
    typer.Option(
        "--window",
        metavar="TOKENS",
        min=1,
        help="Context window, input plus reply; the model's applies if it is smaller.",
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        metavar="TOKENS",
        min=1,
        help="The input budget; nothing is reserved for the reply, unless the preset says so.",
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help=f"The policy: {', '.join(Policy.presets())}; default: from file or environment.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="A YAML file with policy values; they override CTXCORE_… variables.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write the messages to send as JSON; several conversations: one per line.",
    ),
]
Show = Annotated[bool, typer.Option("--show", help="Print the messages to send.")]
ResultTokens = Annotated[
    int,
    typer.Option("--max-tokens", metavar="N", min=0, help="Maximum tokens of the result."),
]
SummarizerModel = Annotated[
    str | None,
    typer.Option(
        "--summarizer",
        metavar="MODEL",
        help="Model for summaries, e.g. local/smollm2-135m; default: extractive, without a model.",
    ),
]
