"""Says where a subscription is filed and why, for people who tune their criteria."""

from __future__ import annotations

from ramify.criteria.plan import FilingKey, expected_share, key_to_text
from ramify.criteria.write import term_to_text
from ramify.index.candidates import Candidate
from ramify.index.subscriptions import SubscriptionIndex
from ramify.model import ALWAYS, All, Match, Pattern, Plan, Statistics
from ramify.patterns import pattern_matches


def plan_of(match: Match, index: SubscriptionIndex, statistics: Statistics | None) -> Plan:
    """Where a match stands in the index, and the share of events that gets there."""
    candidates = index.candidates_of(match)
    keys = dict.fromkeys(" and ".join(map(key_to_text, _keys(candidate))) for candidate in candidates)
    rests = dict.fromkeys(term_to_text(All(candidate.tested)) for candidate in candidates if candidate.tested)
    share = _share_of_topics(match.subscription.pattern, statistics)
    if match.subscription.criteria.term != ALWAYS.term:
        # Criteria that can never hold have no candidates: nothing gets there.
        share *= min(
            1.0, sum({candidate.key: _share(candidate, statistics) for candidate in candidates}.values())
        )
    return Plan(index.topic_probe(match), tuple(key for key in keys if key), " or ".join(rests), share)


def _keys(candidate: Candidate) -> list[FilingKey]:
    assert candidate.node is not None
    return [*candidate.node.keys, *([] if candidate.key is None else [candidate.key])]


def _share(candidate: Candidate, statistics: Statistics | None) -> float:
    if candidate.key is None or candidate.node is None:
        return 1.0
    return min(1.0, expected_share(candidate.key, candidate.node, statistics))


def _share_of_topics(pattern: Pattern, statistics: Statistics | None) -> float:
    """The share of recorded events whose topic the pattern matches; all, where none are recorded."""
    if statistics is None or not statistics.topics:
        return 1.0
    matched = sum(times for topic, times in statistics.topics.items() if pattern_matches(pattern, topic))
    return matched / max(sum(statistics.topics.values()), 1)
