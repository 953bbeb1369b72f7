"""A term's comparisons are found whatever joins or negates them."""

from ramify.criteria import parse_criteria
from ramify.criteria.atoms import atoms_of


def test_every_comparison_is_found_in_the_order_of_the_text() -> None:
    term = parse_criteria("a.b = 1 and not (c in (2, 3) or exists(d)) or e like 'x%'").term
    assert [".".join(atom.path) for atom in atoms_of(term)] == ["a.b", "c", "d", "e"]


def test_criteria_that_ask_for_nothing_have_no_comparisons() -> None:
    assert list(atoms_of(parse_criteria("").term)) == []
