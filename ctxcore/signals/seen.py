"""What a context showed, as far as forgetting is concerned."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from ctxcore.assembly.verdicts import Run, VerdictKind
from ctxcore.reasons.codes import VerdictCode

_COVERED: Final = frozenset(
    code.value
    for code in (VerdictCode.FOLDED, VerdictCode.TRUNCATED, VerdictCode.NO_ROOM_FOR_SUMMARY)
)


class Seen:
    """The verdicts of a context by the sequence numbers of messages; later ones count as shown."""

    def __init__(self, runs: Sequence[Run], *, before_recall: bool = False) -> None:
        """With `before_recall` what was recalled does not count as shown: it was looked up for the
        request, which shows that it was missing before.
        """
        self._runs = runs
        self._firsts = [run.first for run in runs]
        self._before_recall = before_recall

    @property
    def last(self) -> int:
        """The last message that the context knew."""
        return self._runs[-1].last + 1 if self._runs else 0

    @property
    def hides(self) -> bool:
        """Whether it did not show every message as it is."""
        return any(run.verdict != "kept" for run in self._runs)

    def verdict(self, seq: int) -> VerdictKind:
        """What became of a message; `kept` where it was shown."""
        run = self._run(seq)
        if run is None or (run.verdict == "recalled" and not self._before_recall):
            return "kept"
        return run.verdict

    def shows(self, seq: int) -> bool:
        """Whether it showed a message as it is."""
        return self.verdict(seq) == "kept"

    def is_covered(self, seq: int) -> bool:
        """Whether a message was left out because a compaction covers it."""
        run = self._run(seq)
        return run is not None and (run.verdict == "summarized" or run.reason.code in _COVERED)

    def _run(self, seq: int) -> Run | None:
        if not 0 < seq <= self.last:
            return None
        return self._runs[bisect_right(self._firsts, seq - 1) - 1]
