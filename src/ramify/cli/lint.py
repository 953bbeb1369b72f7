"""`ramify lint`: what a file of subscriptions asks for twice, in vain, or at a high price."""

from __future__ import annotations

from typing import Any

import typer

from ramify.cli import exits
from ramify.cli.documents import show_json
from ramify.cli.inputs import load_subscriptions
from ramify.cli.options import File, Json
from ramify.cli.tables import counted, show_table
from ramify.lint import Finding, Severity
from ramify.lint import lint as findings_in


def lint(file: File, as_json: Json = False) -> None:
    """Find subscriptions that are duplicate, shadowed, overlapping, unreachable or costly.

    Errors and warnings make the exit status 1; notes do not.

    \b
    Example:
      ramify lint subscriptions.jsonl
    """
    loaded = load_subscriptions(file)
    findings = findings_in(loaded.subscriptions)
    if as_json:
        show_json({"findings": [_document(finding) for finding in findings]})
    elif findings:
        show_table(("severity", "kind", "id", "what", "hint"), [_row(finding) for finding in findings])
    else:
        typer.echo(f"nothing to say about {counted(len(loaded.subscriptions), 'subscription')}")
    if loaded.bad:
        raise typer.Exit(exits.SET_ASIDE)
    if any(finding.severity is not Severity.NOTE for finding in findings):
        raise typer.Exit(exits.NO)


def _document(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind.value,
        "severity": finding.severity.value,
        "ids": list(finding.ids),
        "words": finding.words,
        "hint": finding.hint,
    }


def _row(finding: Finding) -> tuple[str, ...]:
    return finding.severity, finding.kind, finding.ids[0], finding.words, finding.hint
