"""A probe looks at the literal levels, and one look-up answers for all patterns of its shape."""

import pytest

from ramify.index.buckets import put
from ramify.index.probes import Shape, literal_places


@pytest.mark.parametrize(
    ("levels", "places"), [((), ()), ((None,), ()), (("a", None, ""), (0, 2)), ((None, "a"), (1,))]
)
def test_the_literal_places_make_the_shape(levels: tuple[str | None, ...], places: tuple[int, ...]) -> None:
    assert literal_places(levels) == places
    shape = Shape(len(levels), places)
    assert shape.starts_wild is (0 not in places)


@pytest.mark.parametrize("levels", [(), (None, None), ("a", None), (None, "a", ""), ("", "")])
def test_what_is_filed_tells_its_levels_again(levels: tuple[str | None, ...]) -> None:
    shape = Shape(len(levels), literal_places(levels))
    items = [object(), object()]
    for item in items:
        put(shape.table, shape.key_of(levels), item)
    assert list(shape.filed()) == [(levels, item) for item in items]


def test_a_wildcard_that_minds_sees_only_words_that_are_not_empty() -> None:
    shape = Shape(3, (1,))
    assert shape.sees(["a", "", "c", ""])
    assert not shape.sees(["", "b", "c"])


def test_a_shape_says_where_it_looks() -> None:
    assert str(Shape(3, (0, 2))) == "3 levels, look at 1, 3"
    assert str(Shape(2, ())) == "2 levels, look at none"
