"""What is odd about one subscription by itself: it can never match, or every event pays for it."""

from __future__ import annotations

from collections.abc import Iterator

from ramify.criteria import clauses
from ramify.criteria.plan import keys_of
from ramify.lint.findings import Finding, Kind, Severity
from ramify.model import ALWAYS, Form, Glob, Levels, Rest, Subscription, Term

FEWEST_LITERALS = 3


def unreachable(subscription: Subscription) -> Finding:
    """The finding for criteria that contradict themselves."""
    return Finding(
        Kind.UNREACHABLE,
        Severity.ERROR,
        (subscription.id,),
        f"no event can meet {subscription.criteria.text!r}",
        "remove it, or mend the comparisons that contradict each other",
    )


def lint_costs(subscription: Subscription) -> Iterator[Finding]:
    """Say what makes a subscription dear."""
    pattern, is_free = subscription.pattern, subscription.criteria == ALWAYS
    if is_free and takes_everything(pattern.form):
        yield _costly(
            subscription,
            Severity.WARNING,
            f"{pattern.text!r} names nothing, so it takes every event",
            "name a level, or add criteria, if not every event is wanted",
        )
    elif _has_weak_literals(pattern.form):
        yield _costly(
            subscription,
            Severity.WARNING,
            f"no literal of {pattern.text!r} has {FEWEST_LITERALS} characters, so most topics test it",
            "use a longer literal, or a dialect that splits topics into levels",
        )
    if not is_free and not has_key(subscription.criteria.term):
        yield _costly(
            subscription,
            Severity.NOTE,
            f"{subscription.criteria.text!r} has nothing to look up, so each event on its topics tests it",
            "add an equality or a range that every alternative must meet",
        )


def takes_everything(form: Form) -> bool:
    """Whether the form names no literal and takes topics of any length."""
    if isinstance(form, Glob):
        return not any(form.pieces)
    return isinstance(form, Levels) and form.rest is not Rest.NONE and not any(form.levels)


def has_key(term: Term) -> bool:
    """Whether the index can file every alternative of a term under something."""
    alternatives = clauses(term)
    return alternatives is not None and all(map(keys_of, alternatives))


def _has_weak_literals(form: Form) -> bool:
    """Whether a glob must be verified for most topics; a mere prefix or suffix needs no verifying."""
    if not isinstance(form, Glob) or not any(form.pieces):
        return False
    is_anchored = len(form.pieces) == 2 and not all(form.pieces)
    return not is_anchored and max(map(len, form.pieces)) < FEWEST_LITERALS


def _costly(subscription: Subscription, severity: Severity, words: str, hint: str) -> Finding:
    return Finding(Kind.COSTLY, severity, (subscription.id,), words, hint)
