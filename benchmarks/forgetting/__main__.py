"""Prints precision and recall of forgetting signals by kind, on the turns labelled by hand.

`python -m benchmarks.forgetting`; `--replay FILE … --max-tokens N` lists instead what is found in
recorded conversations under the default policy, to be read and judged.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.forgetting.cases import Case, found_in, load_cases
from ctxcore import Policy, read_transcripts
from ctxcore.compaction.simulation import Recording
from ctxcore.facts.reading import one_line
from ctxcore.replay.signals import signals_under
from ctxcore.signals.values import FoundSignal


@dataclass(frozen=True, slots=True)
class Score:
    """How many signals were found rightly and wrongly, and how many were missed."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of what was found that is right; 1 where nothing was found."""
        found = self.right + self.wrong
        return self.right / found if found else 1.0

    @property
    def recall(self) -> float:
        """The share of what is there that was found; 1 where nothing is there."""
        there = self.right + self.missed
        return self.right / there if there else 1.0


def scores_of(cases: Sequence[Case]) -> dict[str, Score]:
    """The scores by label, and of `all`."""
    right, wrong, missed = Counter[str](), Counter[str](), Counter[str]()
    for at, case in enumerate(cases):
        found = set(map(label_of, found_in(cases, at)))
        wanted = {case.label} - {"-"}
        right.update(found & wanted)
        wrong.update(found - wanted)
        missed.update(wanted - found)
    labels = sorted({*right, *wrong, *missed})
    scores = {label: Score(right[label], wrong[label], missed[label]) for label in labels}
    return {**scores, "all": Score(right.total(), wrong.total(), missed.total())}


def label_of(signal: FoundSignal) -> str:
    """The label of a signal as the cases write it."""
    return f"{signal.kind}:shown" if signal.verdict == "kept" else signal.kind


def main() -> None:
    """Prints the scores, or what is found in files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replay", nargs="+", type=Path, default=[], metavar="FILE")
    parser.add_argument("--max-tokens", type=int, default=6_000)
    chosen = parser.parse_args()
    for path in chosen.replay:
        _replay(path, chosen.max_tokens)
    for name in () if chosen.replay else ("tuning", "held_out"):
        cases = load_cases(name)
        print(f"{name}: {len(cases)} turns")
        for label, score in scores_of(cases).items():
            figures = f"precision {score.precision:.2f}  recall {score.recall:.2f}"
            counts = f"right {score.right}  wrong {score.wrong}  missed {score.missed}"
            print(f"  {label:16}{figures}  {counts}")


def _replay(path: Path, max_tokens: int) -> None:
    for transcript in read_transcripts(path):
        recording = Recording(transcript.messages, model=transcript.model)
        for found in signals_under(recording, Policy.preset("default"), max_tokens=max_tokens):
            print(f"{transcript.title} #{found.seq} {found.kind} {found.verdict}")
            for seq in (found.seq, *found.earlier[:1]):
                print(f"  #{seq} {one_line(recording.messages[seq - 1].text)}")


if __name__ == "__main__":
    main()
