"""`ramify deferred consume`: prints what is due, or runs a command for each item."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import sys
from typing import TYPE_CHECKING, Any

import typer

from ramify.cli import exits
from ramify.cli.deferred_options import (
    Count,
    ExecCommand,
    FromEndpoint,
    KeepGoing,
    PrintText,
    Window,
    needs_zeromq,
)
from ramify.cli.documents import show_json
from ramify.cli.options import Json
from ramify.cli.tables import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from ramify.deferred.wire import Delivery

WINDOW = 1_000


def consume(
    as_json: Json = False,
    text: PrintText = False,
    command: ExecCommand = None,
    keep_going: KeepGoing = False,
    count: Count = None,
    window: Window = None,
    source: FromEndpoint = "tcp://127.0.0.1:5444",
) -> None:
    """Take items from a served queue as they become due, and acknowledge them.

    An item is acknowledged after it was printed, or after its command ended well. A command that
    fails ends consuming with exit status 1, and its item is for others. A command finds the key in
    RAMIFY_KEY and the data on standard input: texts and bytes as they are, all else as JSON.

    \b
    Example:
      ramify deferred consume --json
      ramify deferred consume --exec 'python rebuild.py --fast'
    """
    needs_zeromq()
    from ramify.deferred.endpoints import checked_endpoint

    endpoint = checked_endpoint(source)
    if command is None:
        show = show_text if text else show_document if as_json else show_plain
        work = _print(endpoint, window or min(WINDOW, count or WINDOW), count, show)
    else:
        work = _execute(endpoint, window or 1, count, _arguments(command), keep_going)
    if not asyncio.run(_until_stopped(work)):
        raise typer.Exit(exits.NO)


def _arguments(command: str) -> list[str]:
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--exec") from None
    if not arguments or shutil.which(arguments[0]) is None:
        raise typer.BadParameter(f"no such command: {command!r}", param_hint="--exec")
    return arguments


async def _until_stopped(work: Coroutine[Any, Any, bool]) -> bool:
    """Let SIGTERM and Ctrl-C end the work in good order."""
    task, loop = asyncio.create_task(work), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return True


async def _print(endpoint: str, window: int, count: int | None, show: Callable[[Delivery], None]) -> bool:
    from ramify.net.deferred_clients import ConsumerClient

    async with ConsumerClient(endpoint, window) as client:
        taken = 0
        try:
            async for items in client.batches():
                wanted = items if count is None else items[: count - taken]
                for item in wanted:
                    show(item)
                sys.stdout.flush()
                await client.acknowledge(wanted)
                taken += len(wanted)
                if taken == count:
                    break
        finally:
            await client.settle()
    return True


async def _execute(
    endpoint: str, window: int, count: int | None, arguments: list[str], keep_going: bool
) -> bool:
    """Run the command for each item, one after the other; say whether all went well."""
    from ramify.net.deferred_clients import ConsumerClient

    async with ConsumerClient(endpoint, window) as client:
        taken = 0
        try:
            async for items in client.batches():
                for item in items:
                    if not await _is_fine(arguments, item) and not keep_going:
                        return False
                    await client.acknowledge([item])
                    taken += 1
                    if taken == count:
                        return True
        finally:
            await client.settle()
    return True


async def _is_fine(arguments: list[str], item: Delivery) -> bool:
    environment = os.environ | {"RAMIFY_KEY": item.key, "RAMIFY_DEADLINE": str(item.deadline)}
    process = await asyncio.create_subprocess_exec(*arguments, stdin=asyncio.subprocess.PIPE, env=environment)
    try:
        await process.communicate(_content(item))
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
    if process.returncode:
        typer.echo(f"ramify: {printable(item.key)}: the command ended with {process.returncode}", err=True)
    return process.returncode == 0


# ── what is shown ─────────────────────────────────────────────────────────────────────────


def show_plain(item: Delivery) -> None:
    """Print the key and the data, a tab between them."""
    typer.echo(f"{printable(item.key)}\t{printable(_content(item).decode(errors='backslashreplace'))}")


def show_document(item: Delivery) -> None:
    """Print the item as JSON; bytes are base64 there."""
    from ramify.deferred.wire import decode_data

    shown = {
        "key": item.key,
        "data": decode_data(item.data),
        "deadline": item.deadline,
        "ticket": item.ticket,
    }
    try:
        show_json(shown)
    except TypeError:  # A map with keys that JSON has not.
        show_json(shown | {"data": repr(shown["data"])})


def show_text(item: Delivery) -> None:
    """Print the item in the text form."""
    from ramify.deferred.text import write_delivery

    typer.echo(write_delivery(item.key, bytes(item.data)))


def _content(item: Delivery) -> bytes:
    """The data as a command gets it: texts and bytes as they are, all else as JSON."""
    import msgspec

    from ramify.deferred.text import typed
    from ramify.deferred.wire import decode_data

    kind, content = typed(bytes(item.data))
    if kind != "msgpack":
        return content
    data = decode_data(item.data)
    try:
        return msgspec.json.encode(data)
    except TypeError:
        return repr(data).encode()
