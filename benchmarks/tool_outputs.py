"""Measures compressed tool outputs: this library beside other packages and plain cuts.

Run it as `python -m benchmarks.tool_outputs`, with `--data FOLDER` on other outputs (the form is
said in `tool_outputs_data`). Every contender gets the same outputs, budget and query.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.timing import print_command
from benchmarks.tool_outputs_contenders import COUNTER, Contender, contenders, ours
from benchmarks.tool_outputs_data import OWN, Needle, Output, load_outputs, make_needles
from benchmarks.tool_outputs_failures import Failure, make_failures
from benchmarks.tool_outputs_figures import (
    TABLE_HEAD,
    Result,
    error_lines_kept,
    failure_kept,
    kept_share,
    lookup_kept,
    mean,
    needle_kept,
    percentile,
    run,
    table_row,
)
from benchmarks.tool_outputs_lookups import FORMS, Lookup, make_lookups

TEXT_KINDS = ("log", "code", "text")
LOOKUPS = 300
FAILURES = 200


def main() -> None:
    """Print the tables."""
    print_command()
    options = _options()
    found = {name: one for name, one in contenders().items() if options.only in name}
    everything = load_outputs(options.data, COUNTER)
    _settle()
    outputs = [output for output in everything if output.tokens > options.budget]
    print(f"{len(outputs)} outputs over {options.budget} tokens of {len(everything)}\n")
    results = _print_table(found, outputs, options.budget)
    _print_kinds(results)
    _print_equal_tokens(results)
    _print_budgets(found, everything, options.budgets)
    needles = make_needles(everything, COUNTER, options.seed)
    _settle()
    _print_needles(found, needles, options.budget)
    lookups = [one for one in make_lookups(LOOKUPS, options.seed) if not _fits(one, options.budget)]
    _settle()
    _print_lookups(found, lookups, options.budget)
    _print_failures(found, [*make_failures(FAILURES, options.seed)], options.budget)


def _settle() -> None:
    """Keep the collector off the benchmark's own data: a pass over it would be timed as work."""
    gc.collect()
    gc.freeze()


def _print_table(
    found: Mapping[str, Contender], outputs: Sequence[Output], budget: int
) -> dict[str, list[Result]]:
    print(TABLE_HEAD)
    results = {}
    for name, contender in found.items():
        run(contender, outputs[:5], budget)  # what is loaded on the first call is not timed
        results[name] = run(contender, outputs, budget)
        print(table_row(name, results[name], budget), flush=True)
    return results


def _print_kinds(results: Mapping[str, Sequence[Result]]) -> None:
    """Text by kind, and the error lines of logs."""
    print(f"\n| text retain by kind | {' | '.join(TEXT_KINDS)} | error lines in logs |")
    print("|---" * (len(TEXT_KINDS) + 2) + "|")
    for name, made in results.items():
        texts = [result for result in made if not result.output.is_json]
        of_kind = {k: [r for r in texts if r.output.kind == k] for k in TEXT_KINDS}
        shares = [f"{mean(map(kept_share, of_kind[kind])):.3f}" for kind in TEXT_KINDS]
        errors = mean(map(error_lines_kept, of_kind["log"]))
        print(f"| {name} | {' | '.join(shares)} | {errors:.3f} |")


def _print_equal_tokens(results: Mapping[str, Sequence[Result]]) -> None:
    """Ours with exactly the tokens that a peer took, output for output."""
    print("\n| at equal tokens, JSON | peer | ours | tokens | wins / losses |")
    print("|---|---|---|---|---|")
    for name, made in results.items():
        if not name.startswith(("tooltrim", "llmslim", "head+tail")):
            continue
        known = [r for r in made if r.output.is_json and r.output.used and r.text is not None]
        if not known:
            continue
        mine = [run(ours, [result.output], result.tokens)[0] for result in known]
        pairs = [(kept_share(a) or 0, kept_share(b) or 0) for a, b in zip(known, mine, strict=True)]
        sizes = f"{mean(r.tokens for r in known):.0f} / {mean(r.tokens for r in mine):.0f}"
        score = f"{sum(b > a for a, b in pairs)} / {sum(b < a for a, b in pairs)}"
        peer, own = (mean(side) for side in zip(*pairs, strict=True))
        print(f"| {name} | {peer:.3f} | {own:.3f} | {sizes} | {score} |")


def _print_budgets(
    found: Mapping[str, Contender], outputs: Sequence[Output], budgets: Sequence[int]
) -> None:
    print("\n| JSON / text retain at | " + " | ".join(map(str, budgets)) + " |")
    print("|---" * (len(budgets) + 1) + "|")
    for name, contender in found.items():
        if name.startswith(("minify", "headroom", "toons", "ctxcore lossless")):
            continue  # they take no budget
        cells = []
        for budget in budgets:
            known = [o for o in outputs if o.tokens > budget and o.used]
            made = run(contender, known, budget)
            pairs = [(result.output.is_json, kept_share(result)) for result in made]
            ours_json = mean(share for is_json, share in pairs if is_json)
            ours_text = mean(share for is_json, share in pairs if not is_json)
            cells.append(f"{ours_json:.3f} / {ours_text:.3f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def _print_needles(found: Mapping[str, Contender], needles: Sequence[Needle], budget: int) -> None:
    if not needles:
        print("\ntoo few records with the same keys for long lists")
        return
    tokens = fmean(COUNTER.count(needle.content) for needle in needles)
    print(f"\n{len(needles)} long lists of {tokens:,.0f} tokens")
    print("| compressor | tokens out | named | error | blind | ms p50 / p99 |")
    print("|---" * 6 + "|")
    for name, contender in found.items():
        kept = partial(needle_kept, contender, budget=budget)
        made = [(needle.test, *kept(needle)) for needle in needles]
        shares = [
            f"{mean(is_kept for test, is_kept, *_ in made if test == wanted):.2f}"
            for wanted in ("named", "error", "blind")
        ]
        times = [seconds * 1_000 for *_, seconds in made]
        speed = f"{percentile(times, 0.5):.1f} / {percentile(times, 0.99):.1f}"
        size = f"{mean(tokens for *_, tokens, _ in made):,.0f}"
        print(f"| {name} | {size} | {' | '.join(shares)} | {speed} |", flush=True)


def _fits(lookup: Lookup, budget: int) -> bool:
    return COUNTER.count(lookup.content) <= budget


def _print_lookups(found: Mapping[str, Contender], lookups: Sequence[Lookup], budget: int) -> None:
    """The share of questions whose whole answer is there, by the form of the question."""
    tokens = fmean(COUNTER.count(lookup.content) for lookup in lookups)
    print(f"\n{len(lookups)} look-ups in answers of {tokens:,.0f} tokens")
    print(f"| compressor | tokens out | all | {' | '.join(FORMS)} | ms p50 / p99 |")
    print("|---" * (len(FORMS) + 4) + "|")
    for name, contender in found.items():
        made = [(one.form, *lookup_kept(contender, one, budget)) for one in lookups]
        groups = [made, *([one for one in made if one[0] == form] for form in FORMS)]
        shares = [f"{mean(is_kept for _, is_kept, *_ in group):.3f}" for group in groups]
        times = [seconds * 1_000 for *_, seconds in made]
        speed = f"{percentile(times, 0.5):.1f} / {percentile(times, 0.99):.1f}"
        size = f"{mean(tokens for *_, tokens, _ in made):,.0f}"
        print(f"| {name} | {size} | {' | '.join(shares)} | {speed} |", flush=True)


def _print_failures(
    found: Mapping[str, Contender], failures: Sequence[Failure], budget: int
) -> None:
    """The share of the lines of a failure that are there whole."""
    logs = [failure for failure in failures if COUNTER.count(failure.content) > budget]
    print(f"\n{len(logs)} long logs of {len({log.tool for log in logs})} tools with a failure")
    print("| compressor | lines of the failure |\n|---|---|")
    for name, contender in found.items():
        print(f"| {name} | {mean(failure_kept(contender, log, budget) for log in logs):.3f} |")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=OWN, help="a folder of recorded outputs")
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--budgets", type=int, nargs="*", default=[100, 200, 400, 800])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", default="", help="contenders whose name holds this")
    return parser.parse_args()


if __name__ == "__main__":
    main()
