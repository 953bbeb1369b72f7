"""How fast do bytes become PUBLISH packets and packets bytes, beside PyPI's `mqtt5` (Rust, MQTT 5 only)?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from time import perf_counter, process_time

import mqtt5

from bench.contenders import Run
from bench.data import SEED
from bench.report import Report
from bench.timing import Duel
from ramify.mqtt import Connection, Decoder, Limits, PublishTemplate, Version, encode
from ramify.mqtt.packets import Connect, Publish
from ramify.mqtt.properties import PublishProperties

CHUNK = 65_536
"""Bytes that a socket gives at a time."""

TARGET = 700_000


def main(quick: bool = False) -> None:
    count, repeats = (20_000, 5) if quick else (200_000, 9)
    report = Report("mqtt_codec", SEED, quick)
    random = Random(SEED)
    few, many = topics(random, 1_000, count), topics(random, count, count)
    for version in Version:
        stream = written([Publish(topic, b"21.5 C") for topic in few], version)
        report.alone(
            f"decode, {version.name}", timed(reading(version), stream, count, repeats), target=TARGET
        )
    plain = [Publish(topic, b"21.5 C") for topic in few]
    numbered = [Publish(topic, b"21.5 C", 1, packet_id=7) for topic in few]
    extra = PublishProperties(content_type="text/plain", user_properties=(("unit", "C"),))
    kinds = {
        "QoS 0, 1,000 topics": plain,
        "QoS 0, every topic once": [Publish(topic, b"21.5 C") for topic in many],
        "QoS 1": numbered,
        "QoS 0 with two properties": [Publish(topic, b"21.5 C", properties=extra) for topic in few],
    }
    for name, publishes in kinds.items():
        stream = written(publishes, Version.V5)
        report.compare(f"decode, {name}", duel(read_by_us, read_by_them, stream, count, repeats), "mqtt5")
    report.alone("receive by a connection", timed(received, written(plain, Version.V5), count, repeats))
    theirs = [mqtt5.PublishPacket(each.topic, each.payload) for each in plain]
    encoding = Duel(
        timed(lambda _: [encode(each, Version.V5) for each in plain], b"", count, repeats),
        timed(lambda _: [each.write() for each in theirs], b"", count, repeats),
    )
    report.compare("encode, QoS 0", encoding, "mqtt5")
    template = PublishTemplate(numbered[0], Version.V5)
    fan_out = timed(lambda _: [template.with_packet_id(9) for _ in range(count)], b"", count, repeats)
    report.alone("encode a fan-out, QoS 1, each receiver", fan_out)
    report.finish()


def topics(random: Random, distinct: int, count: int) -> list[str]:
    """So many topics, of which some come back."""
    names = [f"plant/{number}/line/{random.randrange(100)}/temp" for number in range(distinct)]
    return [names[number % distinct] for number in range(count)]


def written(publishes: list[Publish], version: Version) -> bytes:
    return b"".join(encode(each, version) for each in publishes)


def reading(version: Version) -> Callable[[bytes], object]:
    def read(stream: bytes) -> int:
        decoder = Decoder(version=version)
        return sum(len(decoder.feed(stream[at : at + CHUNK])) for at in range(0, len(stream), CHUNK))

    return read


read_by_us = reading(Version.V5)


def read_by_them(stream: bytes) -> int:
    """Packet by packet: their reader takes one at a time, and raises if it is not whole."""
    view, at, read = memoryview(stream), 0, 0
    while at < len(view):
        _, size = mqtt5.read(view[at:])
        at += size
        read += 1
    return read


def received(stream: bytes) -> int:
    connection = Connection(Limits(), now=0.0)
    connection.receive(encode(Connect("c"), Version.V5), 0.0)
    connection.accept(0.0, session_present=False)
    return sum(len(connection.receive(stream[at : at + CHUNK], 1.0)) for at in range(0, len(stream), CHUNK))


def timed(act: Callable[[bytes], object], stream: bytes, count: int, repeats: int) -> list[Run]:
    return [run_of(act, stream, count) for _ in range(repeats)]


def run_of(act: Callable[[bytes], object], stream: bytes, count: int) -> Run:
    began, cpu = perf_counter(), process_time()
    act(stream)
    return Run(perf_counter() - began, process_time() - cpu, count, 0)


def duel(
    ours: Callable[[bytes], object],
    theirs: Callable[[bytes], object],
    stream: bytes,
    count: int,
    repeats: int,
) -> Duel:
    assert ours(stream) == theirs(stream) == count
    turns = [(run_of(ours, stream, count), run_of(theirs, stream, count)) for _ in range(repeats)]
    return Duel([turn[0] for turn in turns], [turn[1] for turn in turns])
