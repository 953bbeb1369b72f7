"""Loads the table of truth of criteria, which every implementation must agree with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class CriteriaCase:
    criteria: str
    fields: dict[str, Any]
    expected: bool

    def __str__(self) -> str:
        return f"{self.criteria or 'empty'} of {json.dumps(self.fields)} is {self.expected}"


def load_criteria_cases() -> list[CriteriaCase]:
    table = Path(__file__).parent.parent / "cases" / "criteria.jsonl"
    return [CriteriaCase(**json.loads(row)) for row in table.read_text("utf-8").splitlines() if row]


CRITERIA_CASES = load_criteria_cases()
