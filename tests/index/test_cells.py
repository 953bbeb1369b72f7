"""A value within an interval always lies in one of the interval's cells, however odd the numbers."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.index.cells import FINEST, cell_of, cells_of, width_of

finite = st.floats(allow_nan=False, allow_infinity=False)
LARGEST, SMALLEST = sys.float_info.max, 5e-324


@given(finite, finite, st.floats(0, 1))
def test_a_value_within_an_interval_lies_in_one_of_its_cells(one: float, other: float, share: float) -> None:
    low, high = sorted((one, other))
    value = min(max(low + share * (high - low), low), high) if high - low < LARGEST else low
    width, cells = cells_of(low, high)
    assert all(cell_of(each, width) in cells for each in (low, value, high))


@given(finite, finite)
def test_an_interval_is_filed_under_three_cells_at_most(one: float, other: float) -> None:
    _, cells = cells_of(*sorted((one, other)))
    assert 1 <= len(cells) <= 3


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0.0, 0.0),
        (-LARGEST, LARGEST),
        (LARGEST, LARGEST),
        (-LARGEST, -LARGEST),
        (0.0, SMALLEST),
        (-SMALLEST, SMALLEST),
        (1e300, 1e300),
        (2.0**53, 2.0**53 + 2),
    ],
)
def test_extreme_intervals_have_cells(low: float, high: float) -> None:
    width, cells = cells_of(low, high)
    assert cell_of(low, width) in cells
    assert cell_of(high, width) in cells


def test_narrow_intervals_share_the_finest_width() -> None:
    assert width_of(1.0, 1.0 + 1e-15) == width_of(0.0, SMALLEST) == FINEST


def test_intervals_of_one_size_share_one_width_wherever_they_lie() -> None:
    assert len({cells_of(float(low), low + 2.0)[0] for low in range(-500, 500)}) == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_finite_number_lies_in_no_cell(value: float) -> None:
    assert cell_of(value, 0) is None


def test_a_value_too_large_for_fine_cells_lies_in_none() -> None:
    assert cell_of(LARGEST, FINEST) is None
