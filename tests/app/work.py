"""Jobs for the tests: a worker imports them by name."""

import os
import time


def double(talk, number):
    talk.tell(done=0.5)
    return 2 * number


def until_stopped(talk, limit=30.0):
    begun = time.monotonic()
    rounds = 0
    while not talk.is_to_stop and time.monotonic() - begun < limit:
        rounds += 1
        talk.tell(round=rounds)
        time.sleep(0.01)
    return "stopped" if talk.is_to_stop else "ended"


def slow_to_stop(talk, seconds=0.5):
    until_stopped(talk)
    time.sleep(seconds)
    return "stopped"


def deaf(talk, limit=30.0):
    """Work, show signs of life, and never ask whether to stop."""
    begun = time.monotonic()
    talk.tell(done=0.0)
    while time.monotonic() - begun < limit:
        time.sleep(0.01)
    return "ended"


def refuse(talk):
    raise ValueError("n_components=-1 must be at least 0.")


def break_down(talk):
    raise ZeroDivisionError("somewhere deep")


def die(talk):
    os._exit(1)


def size_of(talk, shared):
    return len(shared), os.getpid()


def same(talk, shared):
    return shared


class Unreadable:
    """Can be sent, and not be read."""

    def __reduce__(self):
        return int, ("no number",)


def give_what_cannot_be_sent(talk, _):
    return lambda: 0


def give_what_cannot_be_read(talk, _):
    return Unreadable()
