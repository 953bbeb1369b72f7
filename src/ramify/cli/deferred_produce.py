"""`ramify deferred produce`: pushes from arguments, a file, standard input, or made up."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, BinaryIO

import typer

from ramify.cli import exits
from ramify.cli.deferred_options import (
    DataArgument,
    Delay,
    JsonData,
    KeyArgument,
    MadeUpKeys,
    MadeUpMessages,
    OwnEdge,
    OwnMaxCount,
    OwnMaxWait,
    OwnMerge,
    OwnQuiet,
    PushFile,
    QuietMax,
    QuietMin,
    Rate,
    Seed,
    Simulate,
    TextLines,
    Timeout,
    ToEndpoint,
    needs_zeromq,
)
from ramify.cli.inputs import STANDARD
from ramify.cli.tables import counted, printable
from ramify.errors import RamifyError

if TYPE_CHECKING:
    from ramify.deferred.wire import Push, Pushed, PushPolicy

PER_REQUEST = 500
UNDER_WAY = 8
MOST_SHOWN = 10


class _Tally:
    """What became of the pushes."""

    def __init__(self) -> None:
        self.accepted = self.refused = self.bad_lines = 0

    def complain(self, words: str) -> None:
        if self.refused + self.bad_lines <= MOST_SHOWN:
            typer.echo(f"ramify: {printable(words)}", err=True)

    def take(self, pushes: list[Push], answer: Pushed) -> None:
        self.accepted += answer.accepted
        for refusal in answer.refused:
            self.refused += 1
            self.complain(f"refused {pushes[refusal.index].key!r}: {refusal.code}: {refusal.reason}")

    def set_aside(self, number: int, reason: str) -> None:
        self.bad_lines += 1
        self.complain(f"line {number}: {reason}")


def produce(
    key: KeyArgument = None,
    data: DataArgument = None,
    as_json: JsonData = False,
    delay: Delay = None,
    file: PushFile = None,
    text: TextLines = False,
    quiet: OwnQuiet = None,
    max_wait: OwnMaxWait = None,
    max_count: OwnMaxCount = None,
    edge: OwnEdge = None,
    merge: OwnMerge = None,
    simulate: Simulate = False,
    keys: MadeUpKeys = 1_000,
    messages: MadeUpMessages = 10_000,
    quiet_min: QuietMin = 0.1,
    quiet_max: QuietMax = 1.0,
    rate: Rate = None,
    seed: Seed = 0,
    to: ToEndpoint = "tcp://127.0.0.1:4444",
    timeout: Timeout = 10.0,
) -> None:
    """Push to a served queue, and say how many pushes were accepted.

    A refused push makes the exit status 1, and the reason is shown. With --quiet, --max-wait, --max-count,
    --edge or --merge the pushes bring a policy of their own, in place of the server's.

    \b
    Example:
      ramify deferred produce order-17 paid --delay 5
      ramify deferred produce --file pushes.jsonl
      ramify deferred produce --simulate --keys 100 --messages 100000 --quiet-min 0.1 --quiet-max 2
    """
    needs_zeromq()
    from ramify.deferred.endpoints import checked_endpoint

    if sum((key is not None, file is not None, simulate)) != 1:
        raise typer.BadParameter("give a KEY, or --file, or --simulate")
    if quiet_max < quiet_min:
        raise typer.BadParameter("it is below --quiet-min", param_hint="--quiet-max")
    policy = _policy(
        {"quiet": quiet, "max_wait": max_wait, "max_count": max_count, "edge": edge, "merge": merge}
    )
    tally = _Tally()
    with _input(file) as source:
        if simulate:
            pushes: Iterable[Push] = _made_up(Random(seed), keys, messages, quiet_min, quiet_max)
        elif source is not None:
            pushes = _from_lines(source, text, delay, tally)
        else:
            pushes = [_push(key or "", _value(data, as_json), delay)]
        asyncio.run(_produce(checked_endpoint(to), _judged(pushes, policy), rate, timeout, tally))
    _conclude(tally)


def _conclude(tally: _Tally) -> None:
    typer.echo(
        f"{tally.accepted:,} accepted, {tally.refused:,} refused"
        + (f", {counted(tally.bad_lines, 'bad line')}" if tally.bad_lines else "")
    )
    if tally.refused:
        raise typer.Exit(exits.NO)
    if tally.bad_lines:
        raise typer.Exit(exits.SET_ASIDE)


async def _produce(
    endpoint: str, pushes: Iterable[Push], rate: float | None, timeout: float, tally: _Tally
) -> None:
    """Keep several requests under way, in order, and no faster than asked."""
    from ramify.net.deferred_clients import ProducerClient

    loop = asyncio.get_running_loop()
    size = PER_REQUEST if rate is None else max(1, min(PER_REQUEST, int(rate / 20)))
    under_way: deque[tuple[list[Push], asyncio.Task[Pushed]]] = deque()
    rest, start, sent = iter(pushes), loop.time(), 0
    async with ProducerClient(endpoint) as client:
        # Reading in a thread lets the answers be heard while standard input is silent.
        while batch := await asyncio.to_thread(_batch, rest, size):
            under_way.append((batch, asyncio.create_task(client.push(batch, timeout))))
            sent += len(batch)
            if rate is not None:
                await asyncio.sleep(max(0.0, start + sent / rate - loop.time()))
            while len(under_way) >= UNDER_WAY:
                await _answered(under_way, tally)
        while under_way:
            await _answered(under_way, tally)


def _batch(pushes: Iterator[Push], size: int) -> list[Push]:
    return list(islice(pushes, size))


async def _answered(under_way: deque[tuple[list[Push], asyncio.Task[Pushed]]], tally: _Tally) -> None:
    batch, answer = under_way.popleft()
    tally.take(batch, await answer)


# ── where pushes come from ────────────────────────────────────────────────────────────────


def _input(file: str | None) -> Any:
    from contextlib import nullcontext

    if file is None or file == STANDARD:
        return nullcontext(None if file is None else sys.stdin.buffer)
    return Path(file).open("rb")


def _from_lines(source: BinaryIO, is_text: bool, delay: float | None, tally: _Tally) -> Iterator[Push]:
    from ramify.files.lines import TOO_LONG, lines

    read = _push_of_text if is_text else _push_of_json
    for number, line, is_whole in lines(source):
        content = line.rstrip(b"\r\n")
        if not is_whole:
            tally.set_aside(number, TOO_LONG)
        elif content:
            try:
                yield read(content, delay)
            except (RamifyError, ValueError, TypeError, OverflowError) as error:
                tally.set_aside(number, str(error))


def _push_of_text(line: bytes, delay: float | None) -> Push:
    from msgspec import Raw

    from ramify.deferred.text import MICROSECONDS, read_push
    from ramify.deferred.wire import Push

    push = read_push(line)
    return Push(push.key, Raw(push.data), push.microseconds / MICROSECONDS)


def _push_of_json(line: bytes, delay: float | None) -> Push:
    from ramify.files.json_text import json_object

    content = json_object(line)
    unknown = sorted(content.keys() - {"key", "data", "delay", "deadline", "version", "policy"})
    if unknown or not isinstance(content.get("key"), str):
        raise ValueError(f"unknown: {', '.join(unknown)}" if unknown else "there is no key that is a text")
    times = {name: content.get(name) for name in ("delay", "deadline", "version")}
    for name, value in times.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ValueError(f"{name} is not a number")
    if times["delay"] is None and times["deadline"] is None:
        times["delay"] = delay
    push = _push(content["key"], content.get("data"), **times)
    push.policy = _policy(content.get("policy", {}))
    return push


def _policy(parts: Any) -> PushPolicy | None:
    """The policy that pushes bring, if any part of it is given; an impossible one is refused here already."""
    import msgspec

    from ramify.deferred.encoded import policy_of
    from ramify.deferred.wire import PushPolicy

    names = PushPolicy.__struct_fields__
    if not isinstance(parts, dict) or not parts.keys() <= set(names):
        raise ValueError(f"a policy is an object with some of {', '.join(names)}")
    given = {name: part for name, part in parts.items() if part is not None}
    if not given:
        return None
    plain = PushPolicy()
    try:
        said = msgspec.convert([given.get(name, getattr(plain, name)) for name in names], PushPolicy)
    except msgspec.ValidationError as error:
        raise ValueError(f"policy: {error}") from None
    policy_of(said)
    return said


def _judged(pushes: Iterable[Push], policy: PushPolicy | None) -> Iterator[Push]:
    """Give the policy to all pushes that bring none."""
    for push in pushes:
        push.policy = push.policy or policy
        yield push


def _push(
    key: str,
    data: Any,
    delay: float | None = None,
    deadline: float | None = None,
    version: float | None = None,
) -> Push:
    from msgspec import Raw

    from ramify.deferred.wire import Push, encode_data

    return Push(key, Raw(encode_data(data)), delay, deadline, version)


def _value(data: str | None, as_json: bool) -> Any:
    if data is None or not as_json:
        return data
    import msgspec

    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        raise typer.BadParameter(f"not JSON: {error}", param_hint="DATA") from None


def _made_up(random: Random, keys: int, messages: int, shortest: float, longest: float) -> Iterator[Push]:
    for number in range(messages):
        yield _push(f"key-{random.randrange(keys)}", number, random.uniform(shortest, longest))
