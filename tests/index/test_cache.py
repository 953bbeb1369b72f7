"""Recent answers are remembered, and never longer than they are true."""

from ramify.index.cache import TopicCache
from ramify.model import Exact, Glob

ANY = Glob(("", ""))


def filled(size: int, *topics: str) -> TopicCache[str]:
    cache: TopicCache[str] = TopicCache(size)
    for topic in topics:
        cache.keep(topic, topic.upper(), cache.version)
    return cache


def test_the_topic_that_was_asked_for_longest_ago_goes_first() -> None:
    cache = filled(2, "a", "b")
    assert cache.get("a") == "A"
    cache.keep("c", "C", cache.version)
    assert cache.get("b") is None
    assert cache.get("a") == "A"


def test_a_change_of_an_exact_pattern_forgets_its_topic_and_any_other_forgets_all() -> None:
    cache = filled(5, "a", "b")
    cache.forget(Exact("a"))
    assert (cache.get("a"), cache.get("b")) == (None, "B")
    cache.forget(ANY)
    assert cache.get("b") is None


def test_an_answer_from_before_a_change_is_not_kept() -> None:
    cache = filled(5)
    version = cache.version
    cache.forget(Exact("elsewhere"))
    cache.keep("a", "old", version)
    assert cache.get("a") is None


def test_forgetting_all_also_refuses_answers_that_are_under_way() -> None:
    cache = filled(5, "a")
    version = cache.version
    cache.forget_all()
    cache.keep("b", "old", version)
    assert (cache.get("a"), cache.get("b")) == (None, None)


def test_the_hit_rate_counts_what_was_asked() -> None:
    cache = filled(5, "a")
    assert cache.hit_rate == 0.0
    for topic in ("a", "b", "a", "c"):
        cache.get(topic)
    assert (cache.hits, cache.misses, cache.hit_rate) == (2, 2, 0.5)
