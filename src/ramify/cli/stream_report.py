"""What a stream is doing: a line that is written over itself, and a few rows at the end."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import typer

from ramify.cli.documents import show_json
from ramify.cli.tables import counted, printable, show_table

if TYPE_CHECKING:
    from ramify.jobs.streaming import MicroBatch
    from ramify.jobs.watched import Refreshed

RECENT = 10.0
"""Seconds over which rows a second are told."""


class Report:
    """Counts what micro-batches have done, and tells it."""

    def __init__(self, is_json: bool, is_live: bool) -> None:
        self.is_json, self._is_live = is_json, is_live
        self._begin = time.monotonic()
        self._recent: list[tuple[float, int]] = []
        self.events = self.deliveries = self.late = self.batches = 0
        self.rejects = 0
        self._found, self._written = 0, 0
        self._subscriptions = self._version = 0
        self._latest: MicroBatch | None = None

    def took(self, batch: MicroBatch) -> None:
        """Count a micro-batch; other outputs than the first read the same events again."""
        if batch.query == "rejects":
            self._written += batch.rejects
        elif batch.query == "deliveries":
            self.events, self.deliveries = self.events + batch.events, self.deliveries + batch.deliveries
            self.late, self.batches = self.late + batch.late, self.batches + 1
            self._found += batch.rejects
            self._latest = batch
            self._recent.append((time.monotonic(), batch.events))
        self.rejects = max(self._found, self._written)

    def refreshed(self, found: Refreshed) -> None:
        """Tell of subscriptions that have changed, or could not be read."""
        if found.failure is not None:
            self._say(f"the subscriptions stay as they are: {found.failure}")
            return
        self._subscriptions, self._version = found.count, found.version
        bad = f", {found.bad:,} bad rows set aside" if found.bad else ""
        self._say(f"{counted(found.count, 'subscription')} in force{bad}")

    def draw(self, now: float) -> None:
        """Write the line anew."""
        if self._is_live:
            sys.stderr.write(f"\r{self.line(now)}\x1b[K")
            sys.stderr.flush()

    def line(self, now: float) -> str:
        """How the stream is doing, in one line."""
        self._recent = [(at, rows) for at, rows in self._recent if now - at <= RECENT]
        rate = sum(rows for _, rows in self._recent) / max(1.0, min(RECENT, now - self._begin))
        batch = self._latest
        number, seconds = ("-", 0.0) if batch is None else (batch.number, batch.seconds)
        watermark = "" if batch is None or batch.watermark is None else f"  watermark {batch.watermark}"
        return (
            f"batch {number} ({seconds:.1f} s)  {rate:,.0f} events/s  in {self.events:,}  "
            f"out {self.deliveries:,}  rejects {self.rejects:,}{watermark}"
        )

    def end_line(self) -> None:
        """Leave the line as it is, and go on below it."""
        if self._is_live:
            sys.stderr.write("\n")

    def show(self) -> None:
        """Say at the end what was done."""
        seconds = time.monotonic() - self._begin
        if self.is_json:
            show_json(
                {
                    "events": self.events,
                    "deliveries": self.deliveries,
                    "rejects": self.rejects,
                    "late": self.late,
                    "batches": self.batches,
                    "subscriptions": self._subscriptions,
                    "seconds": round(seconds, 3),
                }
            )
            return
        rows = {
            "events": self.events,
            "deliveries": self.deliveries,
            "rejects": self.rejects,
            "late": self.late,
            "micro-batches": self.batches,
        }
        shown = [(name, f"{count:,}") for name, count in rows.items()]
        show_table(("stream", ""), [*shown, ("seconds", f"{seconds:.1f}")])

    def _say(self, text: str) -> None:
        if self._is_live:
            sys.stderr.write("\r\x1b[K")
        typer.echo(f"ramify: {printable(text)}", err=True)
