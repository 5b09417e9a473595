"""Draws what each generation of summaries lost, and the sentences that went through them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.compaction.generations import SentenceLife
from ctxcore.compaction.loss_report import RANKS, LossRank, loss_code
from ctxcore.engine.generations import GenerationLosses
from ctxcore.replay.losses import NeededFact
from ctxcore.store.values import CompactionInfo, JobInfo, SessionInfo
from dashboard.addresses import place_button
from dashboard.excerpts import excerpt, short_fact
from dashboard.job_view import follow_job
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import CONFIG, Figure, Row, plain_table, table_with_choice
from dashboard.wording import reason_sentence, reason_text

COLORS: dict[LossRank, str] = {
    "standing": "#D55E00",
    "needed": "#E69F00",
    "other": "#56B4E9",
    "minor": "#999999",
}
FACT_CHARS = 80  # chosen: fits a column
SENTENCE_CHARS = 120  # chosen: fits a column
MOST_FACTS = 200  # chosen: keeps the page quick to draw
MOST_SENTENCES = 300  # chosen, as above
JOB = "compaction_generations_job"
"""What the job was started for, and its id."""


def show_generations(session: SessionInfo, compactions: Sequence[CompactionInfo]) -> None:
    """Draws both on request, where compactions in force continue each other."""
    if _depth(session, compactions) < 2:
        return
    st.subheader(t("generations.title"))
    with st.expander(
        t("generations.losses"), key="compaction_generations", on_change="rerun"
    ) as losses:
        if losses.open:
            _losses(session)
    with st.expander(
        t("generations.sentences"), key="compaction_lives", on_change="rerun"
    ) as sentences:
        if sentences.open:
            _sentences(session)


def _depth(session: SessionInfo, compactions: Sequence[CompactionInfo]) -> int:
    """How many compactions are in force."""
    known = {info.id: info for info in compactions}
    info, depth = known.get(session.active_compaction_id or ""), 0
    while info is not None:
        info, depth = known.get(info.parent_id or ""), depth + 1
    return depth


def _losses(session: SessionInfo) -> None:
    """Follows the job that reads the losses; it is found again while nothing has changed."""
    of = (session.id, session.active_compaction_id, session.length)
    if JOB not in st.session_state or st.session_state[JOB][0] != of:
        st.session_state[JOB] = (of, engine().start_generations(session.id).id)
    job = follow_job(st.session_state[JOB][1], key="compaction_generations")
    if job is not None and job.state == "done":
        _drawn(_read(job))
    elif job is None or job.state != "running":
        st.button(
            t("generations.again"),
            key="compaction_generations_again",
            icon=":material/refresh:",
            on_click=lambda: st.session_state.pop(JOB, None),
        )


def _read(job: JobInfo) -> list[GenerationLosses]:
    found = job.result["generations"] if job.result else []
    assert isinstance(found, list)
    return [GenerationLosses.from_dict(one) for one in found if isinstance(one, dict)]


def _drawn(generations: Sequence[GenerationLosses]) -> None:
    known = [one for one in generations if one.lost is not None]
    names = {rank: t(f"generations.rank.{rank}") for rank in RANKS}
    rows = [generation_row(one, names) for one in generations]
    if any(one.lost for one in known):
        figure = losses_chart(known, names=names, axis=t("generations.facts"))
        key, alt = "compaction_generations_chart", t("generations.losses")
        st.plotly_chart(figure, key=key, alt=alt, config=dict(CONFIG))
    options = [str(one.number) for one in generations]
    opened = table_with_choice(
        rows,
        options,
        key="compaction_generations_rows",
        alt=t("generations.losses"),
        newest=len(options) - 1,
    )
    picked = generations[options.index(opened)]
    if picked.verdict is not None:
        st.markdown(f"**{reason_sentence(picked.verdict.reason)}**")
    label, key = t("generations.open", number=picked.number), "compaction_generations_open"
    place_button("compaction", picked.number, label=label, icon=":material/compress:", key=key)
    facts = [fact for fact in picked.lost or () if fact.rank != "minor"]
    if facts:
        plain_table([_fact(fact) for fact in facts[:MOST_FACTS]], alt=t("compact.lost"))
    if len(facts) > MOST_FACTS:
        st.caption(t("generations.more", count=f"{len(facts) - MOST_FACTS:,}"))


def generation_row(one: GenerationLosses, names: dict[LossRank, str]) -> Row:
    """What a generation lost, by rank; unknown where it was not looked for."""
    is_known, verdict = one.lost is not None, one.verdict
    return {
        t("compaction.number"): one.number,
        **{names[rank]: one.count(rank) if is_known else None for rank in RANKS},
        t("generations.gone"): f"{verdict.gone:,} / {verdict.needed:,}" if verdict else None,
    }


def losses_chart(
    generations: Sequence[GenerationLosses], *, names: dict[LossRank, str], axis: str
) -> Figure:
    """A bar a generation, stacked by how much each loss matters."""
    numbers = [f"{one.number:,}" for one in generations]
    traces: list[Figure] = [
        {
            "type": "bar",
            "name": names[rank],
            "x": numbers,
            "y": [one.count(rank) for one in generations],
            "marker": {"color": COLORS[rank], "line": {"width": 0}},
            "hovertemplate": f"{names[rank]}: %{{y:,}}<extra></extra>",
        }
        for rank in RANKS
    ]
    layout: Figure = {
        "barmode": "stack",
        "height": 260,
        "margin": {"l": 0, "r": 0, "t": 8, "b": 0},
        "legend": {"orientation": "h", "traceorder": "normal"},
        "xaxis": {"type": "category"},
        "yaxis": {"title": {"text": axis}, "rangemode": "tozero"},
    }
    return {"data": traces, "layout": layout}


def _fact(fact: NeededFact) -> Row:
    needed = None if fact.needed_at is None else fact.needed_at + 1
    return {
        t("compact.lost.fact"): short_fact(fact.text, fact.kind, FACT_CHARS),
        t("compact.lost.kind"): reason_text(loss_code(fact.kind)()),
        t("compact.lost.said_in"): fact.at + 1,
        t("compact.lost.needed_later"): f"#{needed:,}" if needed else t("compaction.no"),
    }


def _sentences(session: SessionInfo) -> None:
    lives = engine().sentence_lives(session.id)
    if not lives:
        st.caption(t("generations.no_sentences"))
        return
    kept = sum(life.is_kept for life in lives)
    st.caption(t("generations.told", kept=f"{kept:,}", count=f"{len(lives):,}"))
    plain_table([_life(life) for life in lives[:MOST_SENTENCES]], alt=t("generations.sentences"))
    if len(lives) > MOST_SENTENCES:
        st.caption(t("generations.more", count=f"{len(lives) - MOST_SENTENCES:,}"))


def _life(life: SentenceLife) -> Row:
    return {
        t("compaction.sentences.sentence"): excerpt(life.text, SENTENCE_CHARS),
        t("generations.first"): life.first,
        t("generations.last"): t("generations.still") if life.is_kept else f"{life.last:,}",
        t("compaction.sentences.messages"): ", ".join(map(str, life.seqs)) or "–",
        t("compaction.sentences.doubt"): t("generations.doubted") if life.is_doubted else "",
    }
