"""What a job over tables did, would do, or plans to do, for people and for scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ramify.cli import exits
from ramify.cli.documents import show_json
from ramify.cli.tables import counted, printable, show_table

if TYPE_CHECKING:
    from ramify.jobs.batch import Ready
    from ramify.jobs.estimating import Estimate
    from ramify.jobs.summary import Rejected, Summary


def show_summary(summary: Summary, as_json: bool) -> None:
    """Say what was done; bad rows make the exit status 3."""
    if as_json:
        show_json(summary.document())
    else:
        _show(summary)
    if summary.bad:
        raise typer.Exit(exits.SET_ASIDE)


def _show(summary: Summary) -> None:
    rate = summary.rows_per_second
    rows = [(name, f"{count:,}") for name, count in summary.counts.items()]
    rows += [("bad rows", f"{summary.bad:,}")]
    rows += [] if rate is None else [("rows a second", f"{rate:,.0f}")]
    rows += [] if summary.strategy is None else [("strategy", summary.strategy)]
    rows += [("written to", ", ".join(summary.out))]
    show_table((summary.job, ""), rows)
    _show_rejects(summary.rejects)
    phases = [(p.name, f"{p.seconds:.1f}", str(len(p.stages)), f"{p.tasks:,}") for p in summary.phases]
    total = sum(len(phase.stages) for phase in summary.phases), sum(phase.tasks for phase in summary.phases)
    phases.append(("all", f"{summary.seconds:.1f}", str(total[0]), f"{total[1]:,}"))
    show_table(("phase", "seconds", "stages", "tasks"), phases)


def _show_rejects(rejects: tuple[Rejected, ...]) -> None:
    if rejects:
        rows = [(f"{each.count:,}", each.source, each.reason) for each in rejects]
        show_table(("bad rows", "of", "reason"), rows)


def show_estimate(estimate: Estimate, as_json: bool) -> None:
    """Say what would come; bad rows make the exit status 3."""
    if as_json:
        show_json({"dry_run": True, **estimate.document()})
    else:
        _show_estimate(estimate)
    if estimate.rejects:
        raise typer.Exit(exits.SET_ASIDE)


def _show_estimate(estimate: Estimate) -> None:
    how = "all of them" if estimate.sampled == estimate.events else f"from a sample of {estimate.sampled:,}"
    per_event = estimate.deliveries / estimate.events if estimate.events else 0.0
    rows = [
        ("events", f"{estimate.events:,}"),
        ("deliveries", f"about {estimate.deliveries:,} ({how})"),
        ("per event", f"{per_event:,.2f}"),
        ("subscribers", f"{estimate.subscribers:,} or more"),
        ("strategy", estimate.strategy or ""),
    ]
    show_table(("dry run", ""), rows)
    if estimate.top:
        top = [(each.subscriber, f"about {each.deliveries:,}") for each in estimate.top]
        show_table(("subscriber", "deliveries"), top)
    _show_rejects(estimate.rejects)
    typer.echo("nothing was written", err=True)


def show_checked(made: Ready, as_json: bool) -> None:
    """Say that a job could run."""
    columns = [f"{field.name} {field.dataType.simpleString()}" for field in made.answer.schema]
    if as_json:
        show_json({"dry_run": True, "job": made.job, "columns": columns, "strategy": made.why})
        return
    typer.echo(f"{made.job} can run: {counted(len(columns), 'column')} would be written")
    for column in columns:
        typer.echo(f"  {printable(column)}")


def show_plan(made: Ready, as_json: bool) -> None:
    """Print the physical plan, and why that strategy."""
    document: dict[str, Any] = {"job": made.job, "strategy": made.why, "plan": plan_of(made)}
    if as_json:
        show_json(document)
        return
    if made.why is not None:
        typer.echo(f"strategy {made.why}")
    typer.echo(document["plan"])


def plan_of(made: Ready) -> str:
    """The plan as Spark writes it."""
    from contextlib import redirect_stdout
    from io import StringIO

    text = StringIO()
    with redirect_stdout(text):
        made.answer.explain()
    return text.getvalue().strip()
