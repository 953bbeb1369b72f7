"""What the exit status of a command tells a script."""

from __future__ import annotations

FINE = 0
NO = 1
UNUSABLE = 2
SET_ASIDE = 3
BUG = 70
INTERRUPTED = 130
PIPE_CLOSED = 141

MEANINGS = {
    FINE: "done",
    NO: "the answer is no: lint warns, explain --id misses, translate has none, a push is refused,\n"
    "     pipeline check finds a flaw, doctor finds that Spark cannot run",
    UNUSABLE: "not done: a usage error, or an input that cannot be used",
    SET_ASIDE: "done, but bad lines of an input were set aside",
}

# The backspace keeps these lines as they are.
EPILOG = "\b\nExit status:\n" + "\n".join(f"  {status}  {meaning}" for status, meaning in MEANINGS.items())
