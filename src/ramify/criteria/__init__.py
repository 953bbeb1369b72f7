"""Criteria: conditions on an event's fields, from their text to a plain yes or no.

`evaluate` says what is right, slowly; `predicates` says the same, fast; `normal` and `ranges`
tell the index what to look for. See docs/criteria.md for the language.
"""

from __future__ import annotations

from ramify.criteria.evaluate import MISSING, holds, resolve
from ramify.criteria.explain import explain, failure
from ramify.criteria.form import from_json, to_json
from ramify.criteria.kinds import Kind, kind_of
from ramify.criteria.normal import clauses, filing_clauses, never_holds
from ramify.criteria.parse import parse_criteria
from ramify.criteria.predicates import Predicate, compile_term
from ramify.criteria.ranges import Clause, Literal, Range, is_contradictory, ranges
from ramify.criteria.write import term_to_text

__all__ = [
    "MISSING",
    "Clause",
    "Kind",
    "Literal",
    "Predicate",
    "Range",
    "clauses",
    "compile_term",
    "explain",
    "failure",
    "filing_clauses",
    "from_json",
    "holds",
    "is_contradictory",
    "kind_of",
    "never_holds",
    "parse_criteria",
    "ranges",
    "resolve",
    "term_to_text",
    "to_json",
]
