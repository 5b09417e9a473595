"""Reasons are told by their code in the language of the page; nobody reads their English."""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path
from typing import get_args

import pytest

from ctxcore import reasons
from ctxcore.messages.values import Role
from ctxcore.policy.names import STRATEGIES
from ctxcore.policy.values import TaskType
from ctxcore.reasons.codes import (
    ChoiceCode,
    EvidenceCode,
    NoticeCode,
    OutcomeCode,
    RepairCode,
    TriggerCode,
    VerdictCode,
)
from ctxcore.reasons.values import Code, QuoteCode, Reason, TextCode, blanks, counts, known_codes
from ctxcore.store.values import ScopeKind
from dashboard import codes, texts
from dashboard.texts import catalogue, languages
from dashboard.wording import reason_text

LIBRARY = [f"{reasons.__name__}.{found.name}" for found in pkgutil.iter_modules(reasons.__path__)]
DECLARING = [importlib.import_module(name) for name in LIBRARY] + [codes, codes]

CODES = sorted(
    code
    for code in known_codes().values()
    if type(code).__module__ in {one.__name__ for one in DECLARING}
)
WORDS: dict[str, tuple[str, ...]] = {
    "role": get_args(Role),
    "task": get_args(TaskType),
    "strategy": tuple(STRATEGIES),
    "part": ("system", "tools", "goal"),
    "trigger": ("auto", "manual"),
    "layer": ("environment", "file", *get_args(ScopeKind)),
    "counted": ("system", "tools", "recent"),
}
"""Facts that are one of a few words."""


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "OUTSIDE", "zh")


def english(code: Code) -> str:
    return catalogue("en").get(f"reason.{code}", code.text)


def test_every_code_has_a_chinese_text() -> None:
    assert [code for code in CODES if f"reason.{code}" not in catalogue("zh")] == []


@pytest.mark.parametrize("language", languages())
def test_every_text_is_of_a_code(language: str) -> None:
    told = {key.removeprefix("reason.") for key in catalogue(language) if key.startswith("reason.")}

    assert told - set(CODES) == set()


def test_a_code_says_the_same_facts_in_both_languages() -> None:
    chinese = catalogue("zh")

    different = [
        code for code in CODES if blanks(english(code)) != blanks(chinese[f"reason.{code}"])
    ]
    assert different == []


def test_a_text_names_only_facts_of_its_code() -> None:
    assert [code for code in CODES if blanks(english(code)) - blanks(code.text)] == []


def test_an_english_text_says_something_else_than_the_library() -> None:
    assert [code for code in CODES if catalogue("en").get(f"reason.{code}") == code.text] == []


@pytest.mark.parametrize("language", languages())
def test_every_word_that_a_fact_can_be_has_a_text(language: str) -> None:
    keys = {f"fact.{name}.{word}" for name, words in WORDS.items() for word in words}

    assert keys - catalogue(language).keys() == set()


def test_numbers_are_written_as_the_text_says(chinese: None) -> None:
    reason = TriggerCode.INPUT_RATIO(tokens=12_345, trigger=9_000)

    assert reason_text(reason) == "输入达到压缩线（12,345 / 9,000）"
    assert (
        reason_text(ChoiceCode.SCORES(truncate=0.5, summarize=0.25)) == "评分：截断 0.5，摘要 0.25"
    )


def test_a_reason_among_the_facts_is_told_in_the_same_language(chinese: None) -> None:
    over = OutcomeCode.STILL_OVER(
        why=OutcomeCode.TRUNCATED_INSTEAD(why=ChoiceCode.NO_SUMMARIZER()),
        trigger=TriggerCode.MANY_TURNS(turns=4, most=3),
    )

    assert (
        reason_text(over) == "没有摘要器；改为截断；之后仍然过大（轮次数量（4 / 3））：请开始新会话"
    )
    reminded = VerdictCode.REMINDED(why=VerdictCode.FOLDED())
    assert reason_text(reminded) == "已折叠进摘要，其中的长期指令已重新加入"


def test_words_that_a_fact_can_be_are_told_in_the_same_language(chinese: None) -> None:
    assert reason_text(RepairCode.MERGED(role="user")) == "连续两条用户消息"
    assert reason_text(NoticeCode.PREFIX_CHANGED(part="tools")).startswith(
        "工具定义自上次调用后有变化"
    )
    evidence = counts({EvidenceCode.CODE: 3, "Read": 1_200})
    assert reason_text(ChoiceCode.TASK(task="code", evidence=evidence)) == (
        "代码任务：含代码的消息 3、Read 1,200"
    )


def test_what_is_told_is_not_quoted_like_a_value(chinese: None) -> None:
    assert reason_text(QuoteCode.VALUE(value="x")) == "'x'"
    assert reason_text(QuoteCode.VALUE(value=QuoteCode.OF_TYPE(kind="set"))) == "类型为 set 的值"


def test_a_list_is_told_with_the_commas_of_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    names = TextCode.TEXT(text=("a", 2, RepairCode.BLANK_TEXT()))

    assert reason_text(names) == "a, 2, a part with only white space"
    monkeypatch.setattr(texts, "OUTSIDE", "zh")
    assert reason_text(names) == "a、2、只含空白的片段"


def test_what_has_no_text_is_told_in_the_library_s_english() -> None:
    assert reason_text(RepairCode.BLANK_TEXT()) == RepairCode.BLANK_TEXT.text


def test_other_people_s_words_stay_as_they_are(chinese: None) -> None:
    assert reason_text(TextCode.TEXT(text="the moon is full")) == "the moon is full"
    assert reason_text(TextCode.OLD_TEXT(text="the {moon} was full")) == "the {moon} was full"


def test_a_code_of_another_release_is_told_with_its_facts(chinese: None) -> None:
    assert reason_text(Reason("moon.full", {"size": 3_000, "role": "user"})) == (
        "moon.full: size 3,000, role 用户"
    )


def test_a_fact_that_is_missing_or_of_another_kind_is_no_reason_to_fail(chinese: None) -> None:
    assert reason_text(Reason(OutcomeCode.STAYS)) == "最少仍需 ? tokens"
    assert reason_text(Reason(OutcomeCode.STAYS, {"tokens": "many"})) == "最少仍需 many tokens"
    assert reason_text(TriggerCode.RECORDED(product=None)) == "由 ? 记录"


def test_a_sentence_of_the_library_can_change_its_words(
    chinese: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = reason_text(OutcomeCode.NOTHING_FOLDS())

    monkeypatch.setattr(OutcomeCode.NOTHING_FOLDS, "text", "there is nothing that could be folded")

    assert reason_text(OutcomeCode.NOTHING_FOLDS()) == before == "没有可折叠的消息"


def test_a_language_with_one_text_tells_the_rest_in_english(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "FOLDER", with_german(tmp_path))
    monkeypatch.setattr(texts, "OUTSIDE", "de")

    assert (
        reason_text(VerdictCode.REMINDED(why=VerdictCode.PINNED()))
        == "fest; its standing instructions are repeated"
    )
    assert reason_text(TriggerCode.MARKED()) == "requested by the model"
    assert reason_text(VerdictCode.RECENT()) == "recent"


def with_german(folder: Path) -> Path:
    """English with its texts, and German with one."""
    (folder / "en").mkdir()
    (folder / "de").mkdir()
    for path in (texts.FOLDER / "en").iterdir():
        (folder / "en" / path.name).write_bytes(path.read_bytes())
    (folder / "de" / texts.ABOUT).write_text(json.dumps({"name": "Deutsch"}), encoding="utf-8")
    one = {"reason.verdict.pinned": "fest"}
    (folder / "de" / "reasons.json").write_text(json.dumps(one), encoding="utf-8")
    return folder
