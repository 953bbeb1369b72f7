"""Subscriptions for properties: every dialect, criteria, data and odd texts."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ramify.criteria import parse_criteria, term_to_text
from ramify.model import Pattern, Subscription
from tests.criteria_strategies import terms
from tests.strategies import parsed_patterns

_ODD = st.sampled_from(["\n", "\r", "\0", '"', ",", "\u2028", "\ufeff", "é", "'", " ", "a"])
_TEXTS = st.lists(_ODD, max_size=4).map("".join) | st.text(max_size=8)

_CRITERIA = terms().map(lambda term: parse_criteria(term_to_text(term)))

_LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXTS
)
_DATA: SearchStrategy[Any] = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def _subscription(draw: st.DrawFn, id: str) -> Subscription:
    pattern: Pattern = draw(parsed_patterns())
    group = pattern.group or draw(st.none() | _TEXTS.filter(bool))
    return Subscription(id, draw(_TEXTS), pattern, draw(_CRITERIA), draw(_DATA), group)


def subscription_lists() -> SearchStrategy[list[Subscription]]:
    """Subscriptions with different ids."""
    ids = st.lists(_TEXTS.filter(bool), max_size=5, unique=True)
    return ids.flatmap(lambda ids: st.tuples(*map(_subscription, ids))).map(list)
