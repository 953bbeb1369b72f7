"""Lays out a set of subscriptions as the arrays of a frozen index."""

from __future__ import annotations

import msgspec
import numpy as np
import pyarrow as pa

from ramify.frozen.content_build import build_content
from ramify.frozen.csr import Lists
from ramify.frozen.globs import build_globs
from ramify.frozen.levels import LevelTrie
from ramify.frozen.probes import build_probes, split_by_shapes
from ramify.frozen.tables import Arrays, HashClash, TextTable
from ramify.model import ALWAYS, Exact, Form, Glob, LevelRules, Levels, Statistics, Subscription


def build_arrays(
    subscriptions: list[Subscription], realm: str, statistics: Statistics | None, seed: int
) -> tuple[Arrays, bytes]:
    """The arrays, and what a file says about them."""
    while True:
        try:
            return _build(subscriptions, realm, statistics, seed)
        except HashClash:
            seed += 1


def _build(
    subscriptions: list[Subscription], realm: str, statistics: Statistics | None, seed: int
) -> tuple[Arrays, bytes]:
    forms: dict[Form, int] = {}
    plain: list[list[int]] = []
    conditionals = []
    for number, subscription in enumerate(subscriptions):
        form = subscription.pattern.form
        pattern = forms.setdefault(form, len(forms))
        if pattern == len(plain):
            plain.append([])
        if subscription.criteria.term == ALWAYS.term:
            plain[pattern].append(number)
        else:
            conditionals.append((number, pattern, subscription.criteria))
    rules, level_arrays = _level_arrays(forms, seed)
    arrays = {
        "subscriptions.id": pa.array([each.id for each in subscriptions], pa.large_string()),
        "subscriptions.subscriber": pa.array([each.subscriber for each in subscriptions], pa.large_string()),
        **_exact_arrays(forms, seed),
        **level_arrays,
        **build_globs([(number, form) for form, number in forms.items() if isinstance(form, Glob)], seed),
        **Lists.build(plain).to_arrays("plain"),
        **build_content(conditionals, len(forms), len(subscriptions), statistics, seed),
    }
    said = {"salt": str(seed), "realm": realm, "rules": [_rules_as_list(each) for each in rules]}
    return arrays, msgspec.json.encode(said)


def _exact_arrays(forms: dict[Form, int], salt: int) -> Arrays:
    exact = {form.text: number for form, number in forms.items() if isinstance(form, Exact)}
    table = TextTable.build([text.encode() for text in exact], salt)
    return {**table.to_arrays("exact"), "exact.patterns": np.array(list(exact.values()), dtype=np.int32)}


def _level_arrays(forms: dict[Form, int], salt: int) -> tuple[list[LevelRules], Arrays]:
    by_rules: dict[LevelRules, list[tuple[int, Levels]]] = {}
    words: dict[str, int] = {}
    for form, number in forms.items():
        if isinstance(form, Levels):
            by_rules.setdefault(form.rules, []).append((number, form))
            for level in form.levels:
                if level is not None:
                    words.setdefault(level, len(words))
    arrays = TextTable.build([word.encode() for word in words], salt).to_arrays("words")
    for at, (rules, patterns) in enumerate(by_rules.items()):
        few, many = split_by_shapes(patterns)
        arrays |= build_probes(f"probes{at}", few, words, salt)
        arrays |= LevelTrie.build(rules, many, words, salt).to_arrays(f"levels{at}")
    return list(by_rules), arrays


def _rules_as_list(rules: LevelRules) -> list[object]:
    return [rules.separator, rules.wildcard_takes_empty, rules.hides_internal]
