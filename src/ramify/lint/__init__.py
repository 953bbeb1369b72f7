"""The linter: what a set of subscriptions asks for twice, in vain, or at a high price.

`lint` is a pure function. It stays silent where it is not sure, and the time it takes grows with
the number of subscriptions, not with its square.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ramify.criteria import never_holds
from ramify.lint.findings import Finding, Kind, Severity
from ramify.lint.pairs import lint_pairs
from ramify.lint.single import lint_costs, unreachable
from ramify.model import Subscription

__all__ = ["Finding", "Kind", "Severity", "lint"]


def lint(subscriptions: Iterable[Subscription]) -> list[Finding]:
    """Everything that is odd about the subscriptions, the gravest first."""
    findings: list[Finding] = []
    # Members of a share group split the events among them, so only members of one group compare.
    owners: dict[tuple[str, str | None], list[Subscription]] = defaultdict(list)
    for subscription in subscriptions:
        if never_holds(subscription.criteria.term):
            findings.append(unreachable(subscription))
        else:
            findings += lint_costs(subscription)
            owners[subscription.subscriber, subscription.group].append(subscription)
    for owned in owners.values():
        findings += lint_pairs(owned)
    return sorted(findings, key=lambda finding: finding.severity.rank)
