"""Prints the figures of a question as they come, and keeps a full run's table in docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from bench.contenders import Run
from bench.timing import Duel, found_each, median_rate

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
HEAD = ("what", "ramify", "peer", "ratio (spread)", "by processor time", "target", "")


class Report:
    """The rows of one question."""

    def __init__(self, question: str, seed: int, quick: bool) -> None:
        self._question = question
        self._quick = quick
        self._rows: list[tuple[str, ...]] = []
        print(f"seed {seed}; {machine()}", flush=True)

    def compare(self, what: str, duel: Duel, peer: str, *, target: float | None = None) -> None:
        """Us beside a peer."""
        ours, theirs = duel.found
        if ours:
            what += f", {ours / sum(run.count for run in duel.ours):.1f} matches each"
        if ours != theirs:
            what += f" (we found {ours:,} matches, {peer} {theirs:,})"
        ratios = duel.ratios
        ratio = f"{_times(median(ratios))} ({_times(ratios[0])}–{_times(ratios[-1])})"
        beside, cpu = f"{peer} {_rate(median_rate(duel.theirs))}", _times(median(duel.cpu_ratios))
        verdict = _at_least(median(ratios), target, "×")
        self._add(what, _rate(median_rate(duel.ours)), beside, ratio, cpu, *verdict)

    def alone(self, what: str, runs: list[Run], *, target: float | None = None) -> None:
        """Our own rate."""
        rates = sorted(run.rate for run in runs)
        spread = f"({_rate(rates[0])}–{_rate(rates[-1])})"
        if any(run.found for run in runs):
            what += f", {found_each(runs):.1f} matches each"
        cpu = _rate(median(run.cpu_rate for run in runs))
        self._add(what, _rate(median(rates)), "", spread, cpu, *_at_least(median(rates), target, "/s"))

    def cost(self, what: str, times: list[float], figure: str, *, at_most: float) -> None:
        """How many times as much something costs, repeat by repeat."""
        times = sorted(times)
        verdict = "reached" if median(times) <= at_most else "missed"
        ratio = f"{_times(median(times))} ({_times(times[0])}–{_times(times[-1])})"
        self._add(what, figure, "", ratio, "", f"≤ {at_most:g}×", verdict)

    def figure(self, what: str, figure: str, target: str = "", verdict: str = "") -> None:
        """Anything else."""
        self._add(what, figure, "", "", "", target, verdict)

    def finish(self) -> None:
        """Write the table of a full run into the page; a quick run proves nothing."""
        if self._quick:
            return
        lines = ["| " + " | ".join(row) + " |" for row in (HEAD, ("---",) * len(HEAD), *self._rows)]
        body = "\n".join([f"{datetime.now(UTC):%Y-%m-%d}, {machine()}:", "", *lines])
        page = PAGE.read_text(encoding="utf-8")
        begin, end = f"<!-- figures: {self._question} -->", "<!-- end -->"
        before, found, after = page.partition(begin)
        if not found:
            print(f"{PAGE} has no place for {self._question}")
            return
        _, _, rest = after.partition(end)
        PAGE.write_text(f"{before}{begin}\n{body}\n{end}{rest}", encoding="utf-8")

    def _add(self, *row: str) -> None:
        self._rows.append(row)
        what, ours, beside, ratio, cpu, target, verdict = row
        aim = f"   target {target}: {verdict}" if target else ""
        print(f"{what:62} {ours:>14}   {beside:22} {ratio:24} {cpu and 'cpu ' + cpu:16}{aim}", flush=True)


def machine() -> str:
    """What the figures were measured on."""
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


def _at_least(value: float, target: float | None, unit: str) -> tuple[str, str]:
    if target is None:
        return "", ""
    return f"≥ {target:,g}{unit}", "reached" if value >= target else "missed"


def _rate(rate: float) -> str:
    return f"{rate:,.0f}/s"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}×" if ratio >= 100 else f"{ratio:.2f}×"
