"""Owns which summarizer a command uses: the one that quotes, or a model that is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ctxcore.summarizers.protocol import Summarizer

SummarizerModel = Annotated[
    str | None,
    typer.Option(
        "--summarizer",
        metavar="MODEL",
        help="A model that writes the summaries, e.g. local/smollm2-135m; else they quote.",
        show_default=False,
    ),
]


def choose_summarizer(name: str | None, model: str | None) -> Summarizer:
    """The model `name` as a summarizer; without one, what quotes, in the tokens of `model`."""
    if name is None:
        from ctxcore.summarizers.extractive import ExtractiveSummarizer
        from ctxcore.tokens.count import counter_for

        return ExtractiveSummarizer(counter_for(model))
    from ctxcore.gateway.litellm_gateway import LiteLLMGateway
    from ctxcore.gateway.summarizing import ModelSummarizer

    return ModelSummarizer(LiteLLMGateway(), name)
