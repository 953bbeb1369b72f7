"""Counts what ramify does, instead of timing it: a step is a line of its code, or a call into C from there.

A turn of a comprehension is a line too. What one call into C does inside is not seen: the longest
are linear in the topic (`split`, `find`, a set of its grams) or in what is found (`+=`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import ramify

FOLDER = str(Path(ramify.__file__).parent)


def count_steps(work: Callable[[], object]) -> int:
    """How many steps in ramify's code a piece of work takes."""
    steps = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal steps
        if not frame.f_code.co_filename.startswith(FOLDER):
            return None
        if event == "line":
            steps += 1
        return trace

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal steps
        if event == "c_call" and frame.f_code.co_filename.startswith(FOLDER):
            steps += 1

    before = sys.gettrace(), sys.getprofile()
    sys.settrace(trace)
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    return steps
