"""Finds the subscriptions that want an event: first by its topic, then by its fields.

Matches without criteria are filed under their pattern and handed out as they are found. Those
with criteria wait behind their pattern, in a `Content` that the event's fields are looked up in.
"""

from __future__ import annotations

from ramify.criteria import filing_clauses
from ramify.index.cache import TopicCache
from ramify.index.candidates import Candidate
from ramify.index.content import Content
from ramify.index.topics import TopicIndex
from ramify.model import ALWAYS, Fields, Form, Match, Statistics

Found = tuple[list[Match], list[Content]]
"""What a topic alone finds."""

NO_FIELDS: Fields = {}


class SubscriptionIndex:
    """Matches by pattern and criteria, found by topic and fields."""

    def __init__(self, cache: TopicCache[Found] | None = None, statistics: Statistics | None = None) -> None:
        self._cache = cache
        self._statistics = statistics
        self._plain: TopicIndex[Match] = TopicIndex(Match)
        self._conditional: TopicIndex[Content] = TopicIndex(Content)
        self._contents: dict[Form, Content] = {}
        self._candidates: dict[Match, list[Candidate]] = {}

    def add(self, match: Match) -> None:
        """File a match."""
        form = match.subscription.pattern.form
        if match.subscription.criteria.term == ALWAYS.term:
            self._plain.add(form, match)
        else:
            self._add_conditional(form, match)
        if self._cache is not None:
            self._cache.forget(form)

    def remove(self, match: Match) -> None:
        """Take away a match that was filed."""
        form = match.subscription.pattern.form
        candidates = self._candidates.pop(match, None)
        if candidates is None:
            self._plain.remove(form, match)
        else:
            self._remove_conditional(form, candidates)
        if self._cache is not None:
            self._cache.forget(form)

    def find(self, topic: str, fields: Fields | None) -> list[Match]:
        """Every match that wants the event, once, in no particular order."""
        if self._cache is None:
            out = self._plain.find(topic)
            contents = self._conditional.find(topic) if self._contents else None
        else:
            plain, contents = self._remembered(self._cache, topic)
            out = plain.copy()
        if contents:
            may_repeat = False
            for content in contents:
                content.find(NO_FIELDS if fields is None else fields, out)
                may_repeat = may_repeat or content.may_repeat
            if may_repeat:
                return list(dict.fromkeys(out))
        return out

    def asks_content(self, topic: str) -> bool:
        """Whether anything that the topic finds depends on fields."""
        return bool(self._contents) and bool(self._conditional.find(topic))

    def topic_probe(self, match: Match) -> str:
        """What an event's topic is looked up by to find this match, in words."""
        form = match.subscription.pattern.form
        return (self._conditional if match in self._candidates else self._plain).describe(form)

    def candidates_of(self, match: Match) -> list[Candidate]:
        """Where the criteria of a match are filed: a candidate per place."""
        return list(self._candidates.get(match, ()))

    def content_of(self, match: Match) -> Content | None:
        """What waits behind the pattern of a match that has criteria."""
        return self._contents.get(match.subscription.pattern.form)

    def _add_conditional(self, form: Form, match: Match) -> None:
        term = match.subscription.criteria.term
        alternatives = filing_clauses(term)
        content = self._contents.get(form)
        is_new = content is None
        if content is None:
            content = Content(self._statistics)
        if alternatives is None:
            self._candidates[match] = content.add_whole(match, term)
        else:
            self._candidates[match] = content.add(match, alternatives)
        if is_new and not content.is_empty:
            self._contents[form] = content
            self._conditional.add(form, content)

    def _remove_conditional(self, form: Form, candidates: list[Candidate]) -> None:
        content = self._contents.get(form)
        if content is None:
            return  # criteria that can never hold are filed nowhere
        content.remove(candidates)
        if content.is_empty:
            del self._contents[form]
            self._conditional.remove(form, content)

    def _remembered(self, cache: TopicCache[Found], topic: str) -> Found:
        found = cache.get(topic)
        if found is None:
            version = cache.version
            found = self._plain.find(topic), self._conditional.find(topic)
            cache.keep(topic, found, version)
        return found
