"""How a call is timed, and how data is kept out of caches."""

import math
import statistics
import time

# As volvelle bench: equal data in different places is taken in turn through this many bytes.
COLD_BYTES = 400_000_000


class Call:
    """What a rival does: `run` gives its results by name, `timed` does the work alone."""

    def __init__(self, timed, results):
        self.timed = timed
        self.run = results


def in_turn(calls):
    """One function that calls these one after the other, one at each call."""
    state = {"next": 0}

    def call():
        at = state["next"]
        state["next"] = at + 1 if at + 1 < len(calls) else 0
        return calls[at]()
    return call


def cold_sets(set_bytes):
    return max(2, math.ceil(COLD_BYTES / set_bytes))


def seconds_per_call(call, seconds):
    """Median over repetitions of at least 200 us, after warming up."""
    def repetition(count):
        start = time.perf_counter()
        for _ in range(count):
            call()
        return time.perf_counter() - start

    count = 1
    taken = repetition(1)
    while taken < 200e-6:
        count = max(count + 1, min(2 * count, math.ceil(200e-6 / max(taken, 1e-9) * count)))
        taken = repetition(count)
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 2000):
        times.append(repetition(count) / count)
    return statistics.median(times)
