"""What is odd about two subscriptions of one subscriber: it gets the same events from both.

Pairs are looked for among neighbours, in the order of their heads, so that each pair is met once.
A subscriber may still hold patterns that are all neighbours. So each of its subscriptions is
compared with `PAIRS_EACH` others at most, on average, and a finding says where that was not all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

from ramify.criteria import Clause, clauses, is_contradictory, term_to_text
from ramify.lint.findings import Finding, Kind, Severity
from ramify.lint.neighbours import Fixed, Neighbours, fixed_by, head_of
from ramify.model import ALWAYS, Criteria, Form, Subscription
from ramify.patterns import covers, overlaps

PAIRS_EACH = 30
MOST_NAMED = 5
# Multiplying the alternatives of two criteria further costs more than a note is worth.
MOST_ALTERNATIVES = 64

Meaning = frozenset[frozenset[str]] | str
"""What criteria ask for, whatever the order they say it in."""


@dataclass(frozen=True, slots=True)
class Held:
    """A subscription, and what its criteria come to."""

    subscription: Subscription
    head: str
    alternatives: tuple[Clause, ...] | None
    meaning: Meaning
    fixed: Fixed


def lint_pairs(owned: list[Subscription]) -> Iterator[Finding]:
    """Compare the subscriptions of one subscriber with each other."""
    distinct, copies = _without_copies(_held(owned))
    yield from copies
    distinct.sort(key=lambda held: held.head)
    budget, neighbours = PAIRS_EACH * len(distinct), Neighbours[Held]()
    for held in distinct:
        others = list(islice(neighbours.before(held), budget + 1))
        if len(others) > budget:
            yield _unfinished(held)
            return
        budget -= len(others)
        yield from _compared(held, others)
        neighbours.add(held)


def _held(owned: list[Subscription]) -> Iterator[Held]:
    known: dict[str, tuple[tuple[Clause, ...] | None, Meaning, Fixed]] = {}
    for subscription in owned:
        criteria = subscription.criteria
        if criteria.text not in known:
            alternatives = clauses(criteria.term)
            known[criteria.text] = alternatives, _meaning(criteria, alternatives), fixed_by(alternatives)
        yield Held(subscription, head_of(subscription.pattern.form), *known[criteria.text])


def _meaning(criteria: Criteria, alternatives: tuple[Clause, ...] | None) -> Meaning:
    if alternatives is None:
        return term_to_text(criteria.term)
    return frozenset(frozenset(map(term_to_text, clause)) for clause in alternatives)


# ── copies ────────────────────────────────────────────────────────────────────────────────


def _without_copies(all_held: Iterator[Held]) -> tuple[list[Held], list[Finding]]:
    """The first of each that mean the same, and a finding for those that have copies."""
    alike: dict[tuple[Form, Meaning], list[Held]] = defaultdict(list)
    for held in all_held:
        alike[held.subscription.pattern.form, held.meaning].append(held)
    copies = [_duplicates(first, *others) for first, *others in alike.values() if others]
    return [first for first, *_ in alike.values()], copies


def _duplicates(first: Held, *others: Held) -> Finding:
    data = first.subscription.data
    same_data = all(other.subscription.data == data for other in others)
    told = "with the same data" if same_data else "with other data"
    pattern = first.subscription.pattern.text
    return Finding(
        Kind.DUPLICATE,
        Severity.WARNING if same_data else Severity.NOTE,
        _ids(*others, first),
        f"{_named(others)} {'asks' if len(others) == 1 else 'ask'} for what"
        f" {first.subscription.id!r} on {pattern!r} asks for, {told}",
        "remove one of them" if same_data else "fine, if each data is wanted",
    )


# ── neighbours ────────────────────────────────────────────────────────────────────────────


def _compared(held: Held, others: list[Held]) -> Iterator[Finding]:
    """At most one finding that it is not needed, and one that it meets others."""
    meeting = [other for other in others if _share_events(held, other)]
    for other in meeting:
        finding = _needless(held, other) or _needless(other, held)
        if finding is not None:
            yield finding
            meeting.remove(other)
            break
    if meeting:
        yield _overlapping(held, meeting)


def _share_events(one: Held, other: Held) -> bool:
    if not overlaps(one.subscription.pattern, other.subscription.pattern):
        return False
    if one.alternatives is None or other.alternatives is None:
        return True
    if len(one.alternatives) * len(other.alternatives) > MOST_ALTERNATIVES:
        return True
    return any(not is_contradictory(a + b) for a, b in product(one.alternatives, other.alternatives))


def _needless(held: Held, by: Held) -> Finding | None:
    """The finding that one gets nothing that the other does not get, if it is so."""
    small, large = held.subscription, by.subscription
    same_criteria = held.meaning == by.meaning
    if not (same_criteria or large.criteria == ALWAYS) or not covers(large.pattern, small.pattern):
        return None
    if same_criteria and covers(small.pattern, large.pattern):
        return _duplicates(by, held)
    return Finding(
        Kind.SHADOWED,
        Severity.WARNING,
        (small.id, large.id),
        f"all that {small.id!r} on {small.pattern.text!r} gets,"
        f" {large.id!r} on {large.pattern.text!r} gets as well",
        f"remove {small.id!r}, or narrow {large.id!r}",
    )


def _overlapping(held: Held, others: list[Held]) -> Finding:
    return Finding(
        Kind.OVERLAPPING,
        Severity.NOTE,
        _ids(held, *others),
        f"an event may reach {held.subscription.subscriber!r} by"
        f" {held.subscription.id!r} and by {_named(others)}",
        "fine, if it can take an event twice",
    )


def _unfinished(held: Held) -> Finding:
    return Finding(
        Kind.UNFINISHED,
        Severity.NOTE,
        (held.subscription.id,),
        f"{held.subscription.subscriber!r} holds too many patterns that begin alike to compare them all",
        "patterns that start with a literal are told apart sooner",
    )


# ── words ─────────────────────────────────────────────────────────────────────────────────


def _ids(*all_held: Held) -> tuple[str, ...]:
    return tuple(held.subscription.id for held in all_held)


def _named(all_held: tuple[Held, ...] | list[Held]) -> str:
    names = ", ".join(map(repr, _ids(*all_held[:MOST_NAMED])))
    more = len(all_held) - MOST_NAMED
    return f"{names} and {more:,} more" if more > 0 else names
