"""Each step of the `ladder` design alone, beside plain truncation and no compaction at all.

Run it as `python -m benchmarks.ladder`; with `--presets` the presets are beside each other instead,
all in one window. Every conversation is replayed call by call in a window
that is a share of its own length. `literals` are values that a later call uses, `facts` live facts
at each call; both the share that the context still says, of all conversations together.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.conversations import DEMO
from benchmarks.policies import preset_for_input
from benchmarks.timing import print_command
from ctxcore import Policy, read_transcripts
from ctxcore.compaction.simulation import Recording
from ctxcore.replay.replaying import Replaying
from ctxcore.replay.values import Replay

LADDER = Policy.preset("ladder")
NO_STEP = LADDER.override(working_state_ratio=None, direct_strategies=())
METHODS: Mapping[str, Policy] = {
    "no compaction": NO_STEP.override(trigger_ratio=1.0),
    "truncate": NO_STEP.override(strategies=("truncate",)),
    **{name: LADDER.override(strategies=(name,)) for name in LADDER.strategies},
    "the whole ladder": LADDER,
}
LEAST_WINDOW = 600


def main() -> None:
    """Print a line for each method."""
    print_command()
    options = _options()
    recordings = list(_recordings(options.data, options.most))
    print(f"{len(recordings)} conversations, window {options.share:.0%} of each")
    print(f"{'':22}{'literals':>9}{'facts':>9}{'compactions':>13}{'sent':>12}")
    for name, policy in (_presets() if options.presets else METHODS).items():
        print(_line(name, [_replayed(one, policy, options.share) for one in recordings]))


def _presets() -> Mapping[str, Policy]:
    """The presets; whoever is asked agrees."""
    return {
        name: preset_for_input(name).override(requires_confirmation=False)
        for name in Policy.presets()
    }


def _line(name: str, replays: Sequence[Replay]) -> str:
    used = sum(one.literals_used for one in replays)
    present = sum(one.literals_present for one in replays)
    facts = sum(one.facts.count() for one in replays)
    dropped = sum(one.facts.count(fate="dropped") for one in replays)
    made = sum(len(one.compactions) for one in replays)
    sent = sum(one.sent_tokens for one in replays)
    shares = (f"{_share(present, used):>9}", f"{_share(facts - dropped, facts):>9}")
    return f"{name:22}{''.join(shares)}{made:>13,}{sent:>12,}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _replayed(replaying: tuple[Replaying, int], policy: Policy, share: float) -> Replay:
    one, tokens = replaying
    return one.under(policy, max_tokens=max(LEAST_WINDOW, int(tokens * share)))


def _recordings(path: Path, most: int) -> Iterator[tuple[Replaying, int]]:
    """What is replayed, each with its whole size."""
    paths = sorted([*path.glob("*.json"), *path.glob("*.jsonl")]) if path.is_dir() else [path]
    transcripts = [one for found in paths for one in read_transcripts(found)]
    for transcript in transcripts[:most]:
        recording = Recording(transcript.messages)
        yield Replaying(recording), recording.history.totals().tokens


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEMO, help="a file or folder of conversations")
    parser.add_argument("--share", type=float, default=0.25, help="of each, the window")
    parser.add_argument("--most", type=int, default=100, help="conversations")
    parser.add_argument("--presets", action="store_true", help="the presets, not the steps")
    return parser.parse_args()


if __name__ == "__main__":
    main()
