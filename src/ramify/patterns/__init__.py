"""Patterns: expressions over topics, in the dialects that ramify speaks.

`parse_pattern` makes a text a value; all else here says what such a value means.
"""

from ramify.patterns.explain import explain_mismatch
from ramify.patterns.parse import parse_pattern
from ramify.patterns.reference import matches, pattern_matches
from ramify.patterns.relations import covers, overlaps
from ramify.patterns.topics import validate_topic
from ramify.patterns.translate import Translation, translate

__all__ = [
    "Translation",
    "covers",
    "explain_mismatch",
    "matches",
    "overlaps",
    "parse_pattern",
    "pattern_matches",
    "translate",
    "validate_topic",
]
