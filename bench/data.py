"""Made-up plants, orders and programs: patterns and the topics that meet them, from a seed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from random import Random
from string import ascii_letters, digits
from typing import Any

SEED = 20_260_728

KINDS = ("plant", "site", "depot", "store")
CITIES = (
    "berlin", "bergen", "bilbao", "brno", "cork", "delft", "essen", "gdansk", "geneva", "kyoto",
    "lagos", "leeds", "lima", "lyon", "malmo", "osaka", "perth", "porto", "turin", "vienna",
)  # fmt: skip
METRICS = ("temp", "pressure", "humidity", "voltage", "state", "speed", "torque", "level")


def distinct(make: Callable[[], str], count: int) -> list[str]:
    """So many different texts, in the order in which they were made."""
    made: dict[str, None] = {}
    for _ in range(20 * count + 1_000):
        made[make()] = None
        if len(made) == count:
            return list(made)
    raise ValueError(f"only {len(made):,} different texts where {count:,} were wanted")


# ── globs: paths with ids, 20 to 60 characters ────────────────────────────────────────────


def device(random: Random) -> str:
    """`/plant/berlin/line-17/dev-482913`."""
    kind, city = random.choice(KINDS), random.choice(CITIES)
    return f"/{kind}/{city}/line-{random.randint(1, 60)}/dev-{random.randint(1, 999_999)}"


def devices(random: Random, count: int) -> list[str]:
    """Different devices."""
    return distinct(lambda: device(random), count)


def random_places(random: Random, count: int) -> list[str]:
    """`/x7Kd0aQz1/Pm3vT9bL2`: ids that differ at once, as in wild-pare's own test; its best case."""
    return distinct(lambda: f"/{_random_id(random)}/{_random_id(random)}", count)


def _random_id(random: Random) -> str:
    return "".join(random.choices(ascii_letters + digits, k=9))


def below(random: Random, places: list[str], count: int) -> list[str]:
    """Different topics below some of the places: `…/dev-482913/temp/20391`."""
    return distinct(
        lambda: f"{random.choice(places)}/{random.choice(METRICS)}/{random.randint(1, 99_999)}", count
    )


# What a glob keeps of a device's path and a metric. Each has dozens of variants a device, and a
# third of them at most is subscribed to: a topic meets one to five.
GLOB_KINDS: dict[str, Callable[[Random, str, str], str]] = {
    "suffix": lambda random, path, metric: f"*{_behind(random, path)}/{metric}",
    "both ends": lambda random, path, metric: f"{_before(random, path)}/*{_last(random, path)}/{metric}",
    "infix": lambda random, path, metric: f"*{_behind(random, path)}/{metric[: random.randrange(3)]}*",
    "several stars": lambda random, path, metric: (
        f"*{_middle(random, path)}/*{_last(random, path)}*/{metric[:3]}*"
    ),
}


def _behind(random: Random, path: str) -> str:
    """`/berlin/line-17/dev-482913`, or less of it."""
    return "/" + path.split("/", random.choice((2, 3, 4)))[-1]


def _before(random: Random, path: str) -> str:
    """`/plant/berlin/line-17`, or less of it."""
    return path.rsplit("/", random.choice((1, 2, 3)))[0]


def _middle(random: Random, path: str) -> str:
    """`/berlin`, or the kind or the line."""
    return "/" + path.split("/")[random.choice((1, 2, 3))]


def _last(random: Random, path: str) -> str:
    """`482913`, with the dash or without its first digit."""
    return path[-random.choice((5, 6, 7)) :]


def globs_of_kind(kind: str, random: Random, places: list[str], count: int) -> list[str]:
    """Different globs of one kind, each made from one of the places."""
    make = GLOB_KINDS[kind]
    return distinct(lambda: make(random, random.choice(places), random.choice(METRICS)), count)


def readings(random: Random, places: list[str], count: int) -> list[str]:
    """Different topics of the places themselves: `…/dev-482913/temp`."""
    return distinct(lambda: f"{random.choice(places)}/{random.choice(METRICS)}", count)


# ── levels ────────────────────────────────────────────────────────────────────────────────

VOCABULARIES = (20, 40, 100, 400, 12)
"""How many words there are at each of five levels."""

Shape = tuple[tuple[bool, ...], bool]
"""Which levels are literal, and whether any more may follow."""

# What people write: a device, a device anywhere, a metric of a line, everything of a line, …
SHAPES: tuple[tuple[Shape, int], ...] = (
    (((True, True, True, True, True), False), 20),
    (((True, True, True, True, False), False), 20),
    (((True, True, True, True), True), 15),
    (((True, True, False, True, True), False), 12),
    (((True, False, True, True, True), False), 10),
    (((False, True, True, True, True), False), 6),
    (((True, False, False, True, True), False), 6),
    (((True, True, True, False, True), False), 5),
    (((True, True, True), True), 4),
    (((True, True, False, False, True), False), 4),
    (((True, False, True, False, True), False), 4),
    (((False, False, True, True, True), False), 3),
    (((False, False, False, True, False), False), 1),
    (((True, False, False, False, True), False), 1),
)


def all_shapes() -> list[Shape]:
    """Every way to put wildcards into five levels, with a rest and without."""
    places = [
        (size, chosen)
        for size in range(1, 6)
        for n in range(size + 1)
        for chosen in combinations(range(size), n)
    ]
    return [(tuple(at in chosen for at in range(size)), size < 5) for size, chosen in places]


def words(random: Random) -> list[str]:
    """The levels of a topic: `w0-3`, `w1-27`, …"""
    return [f"w{level}-{random.randrange(size)}" for level, size in enumerate(VOCABULARIES)]


def mqtt_pattern(shape: Shape, random: Random) -> str:
    """A pattern of this shape."""
    literal, rest = shape
    levels = [word if is_literal else "+" for word, is_literal in zip(words(random), literal, strict=False)]
    return "/".join([*levels, "#"] if rest else levels)


def mqtt_patterns(random: Random, count: int) -> list[str]:
    """Different patterns of the shapes that people write."""
    shapes, weights = zip(*SHAPES, strict=True)
    return distinct(lambda: mqtt_pattern(random.choices(shapes, weights)[0], random), count)


def mqtt_patterns_of_60_shapes(random: Random, count: int) -> list[str]:
    """Different patterns of 60 shapes; those with few literal levels run out of patterns soon."""
    shapes = random.sample(all_shapes(), 60)
    return distinct(lambda: mqtt_pattern(random.choice(shapes), random), count)


def mqtt_topics(random: Random, patterns: list[str], count: int) -> list[str]:
    """Different topics; each is met by one of the patterns at least."""

    def topic() -> str:
        levels = words(random)
        for at, level in enumerate(random.choice(patterns).split("/")):
            if level not in ("+", "#"):
                levels[at] = level
        return "/".join(levels)

    return distinct(topic, count)


def wamp(levels: list[str]) -> list[str]:
    """The same as WAMP writes them; only for patterns without a rest."""
    return [level.replace("/", ".").replace("+", "") for level in levels]


# ── content ───────────────────────────────────────────────────────────────────────────────


def log_uniform(random: Random, low: float, high: float) -> float:
    """A number between the two; each order of magnitude is equally likely."""
    return float(low * (high / low) ** random.random())


def price_ranges(random: Random, count: int, widest: float) -> list[str]:
    """`price > 17.2 and price < 17.9`: anywhere up to 10,000, and from a hundredth to the widest wide."""
    made = []
    for _ in range(count):
        low = random.uniform(0, 10_000)
        made.append(f"price > {low:.4f} and price < {low + log_uniform(random, 0.01, widest):.4f}")
    return made


def orders(random: Random, customers: int, count: int) -> list[dict[str, Any]]:
    """Events: a customer and a price."""
    return [
        {"customer_id": random.randrange(customers), "price": random.uniform(0, 10_000), "side": "back"}
        for _ in range(count)
    ]
