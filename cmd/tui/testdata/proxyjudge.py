"""Measures the links of `tui proxy` with a client and a server of its own, and compares them with what was set.

    python3 proxyjudge.py TUI

TUI is the program. For each scenario the judge starts a proxy, sends numbered datagrams in both directions, and
counts the arrivals. It shares no code with the proxy and uses only Python's standard library. Every check prints a
line; the exit code is 1 if a check fails.

Counts are exact, or lie in an interval that the binomial law allows with probability 1 - ALPHA. The proxy's seed is
fixed, so its random decisions about the Nth datagram are the same in every run: counts do not depend on the
machine's load. A busy machine can only make a datagram later. So no datagram may arrive before its time, while
of the others the judge only takes those that the machine did not make late.
"""

import json
import math
import select
import signal
import socket
import struct
import subprocess
import sys
import time

ALPHA = 1e-4  # probability that a correct link fails one binomial check
LATE_SHARE = 0.2  # of datagrams with a random delay that may be late, besides the share in a direction without one
TOLERANCE = 0.020  # s
COUNT = 3000  # datagrams in each direction
INTERVAL = 0.0004  # s between two datagrams in one direction
POLL = 0.04  # s that the judge waits for a datagram when all are sent
QUIET = 25  # waits without a datagram after which all have arrived; together more than any delay
SLOWER = 0.01  # share of its rate by which a line may be slower
HEADERS = 28  # bytes of IPv4 and UDP that a rate includes
PAYLOAD = 472  # bytes
NUMBER = struct.Struct("!I")


class Stream:
    """The datagrams of one direction: when each was sent and when it and its copies arrived, in s."""

    def __init__(self, direction):
        self.direction = direction
        self.sent = []  # send times, by number
        self.arrivals = []  # (number, arrival time), in order of arrival
        self.damaged = 0  # arrivals whose content differs

    def send(self, transmit):
        number = NUMBER.pack(len(self.sent))
        self.sent.append(time.monotonic())  # before the system call: a measured delay is never too short
        transmit(number * (PAYLOAD // NUMBER.size))

    def receive(self, data):
        now = time.monotonic()
        number = data[: NUMBER.size]
        if len(data) != PAYLOAD or number * (PAYLOAD // NUMBER.size) != data:
            self.damaged += 1
        else:
            self.arrivals.append((NUMBER.unpack(number)[0], now))

    def copies(self):
        """Returns the number of arrivals of each datagram that arrived, by number."""
        counts = {}
        for number, _ in self.arrivals:
            counts[number] = counts.get(number, 0) + 1
        return counts


class Judge:
    """Prints the checks of all scenarios and remembers whether one failed."""

    def __init__(self):
        self.failed = False
        self.late_share = 0  # of the datagrams of the last direction with a constant delay, which the machine made late

    def check(self, ok, text):
        print("ok    " if ok else "FAILED", text, flush=True)
        self.failed = self.failed or not ok

    def binomial(self, what, hits, trials, p):
        low, high = binomial_interval(trials, p)
        self.check(low <= hits <= high, f"{what}: {hits} of {trials}, expected {low} to {high} ({p:.4g})")

    def delays_below(self, bound, p, delays):
        """Checks how many delays are below bound, in s, of which a delay has the probability p. A busy machine
        can only make delays longer, so the lower limit is that of the share that is not late: the same processes
        also forward the other direction, which has a constant delay."""
        early, in_time = sum(d < bound for d in delays), sum(d < bound + TOLERANCE for d in delays)
        _, high = binomial_interval(len(delays), p)
        low, _ = binomial_interval(len(delays), max(p * (1 - LATE_SHARE - self.late_share), 1e-9))
        self.check(early <= high, f"delay below {bound * 1000:.0f} ms: {early} of {len(delays)}, expected at most {high} ({p:.4g})")
        self.check(in_time >= low, f"delay below {(bound + TOLERANCE) * 1000:.0f} ms: {in_time} of {len(delays)}, expected at least {low}")

    def never_early(self, what, lateness):
        """Checks that no datagram arrived before its time. lateness is in s."""
        self.check(min(lateness) >= 0, f"{what}: the first {min(lateness) * 1000:.3f} ms after its time, expected 0 or more")

    def in_time(self, what, lateness):
        """Checks that the datagram that arrived soonest after its time is not late. lateness is in s."""
        soonest = min(lateness)
        self.check(soonest <= TOLERANCE, f"{what}: the soonest {soonest * 1000:.3f} ms late, expected at most {TOLERANCE * 1000:.0f}")

    def not_slower(self, transmission, lateness):
        """Checks that a line is not slower than set. A slow line makes all datagrams later and later, and a pause of the
        machine only those near it. So the least increase from one tenth of the datagrams to the next counts.
        transmission and lateness are in s; lateness is in order of arrival."""
        tenth = len(lateness) // 10
        soonest = [min(lateness[i * tenth:(i + 1) * tenth]) for i in range(10)]
        share = min(b - a for a, b in zip(soonest, soonest[1:])) / (tenth * transmission)
        self.check(share <= SLOWER, f"line slower than set by {share:.3%}, expected at most {SLOWER:.0%}")


def binomial_interval(trials, p):
    """Returns the counts between which a binomial count lies with a probability of at least 1 - ALPHA."""
    def tail(counts):
        total = 0.0
        for k in counts:
            total += math.exp(math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1)
                              + k * math.log(p) + (trials - k) * math.log1p(-p))
            if total > ALPHA / 2:
                return k
        raise ValueError("p must be between 0 and 1")
    return tail(range(trials + 1)), tail(range(trials, -1, -1))


def judge_loss(judge, s, p, burst):
    """p is the loss rate; burst is the mean number of datagrams lost in a row, 0 for independent losses.

    Bursts are a Markov chain (Gilbert): a loss ends with probability 1/burst, and begins after an arrival with the
    probability that makes the loss rate p. In both states the next datagram is one trial.
    """
    arrived = s.copies()
    lost = [n not in arrived for n in range(len(s.sent))]
    if not burst:
        judge.binomial("lost", sum(lost), len(lost), p)
        after_loss = [b for a, b in zip(lost, lost[1:]) if a]
        judge.binomial("lost after a loss", sum(after_loss), len(after_loss), p)
        return
    after_loss = [not b for a, b in zip(lost, lost[1:]) if a]
    after_arrival = [b for a, b in zip(lost, lost[1:]) if not a]
    judge.binomial("bursts that end with a datagram", sum(after_loss), len(after_loss), 1 / burst)
    judge.binomial("bursts that begin after a datagram", sum(after_arrival), len(after_arrival), p / (1 - p) / burst)


def judge_duplicates(judge, s, p, copies):
    counts = s.copies()
    duplicated = [n for n in counts.values() if n > 1]
    judge.binomial("duplicated", len(duplicated), len(s.sent), p)
    judge.check(set(duplicated) == {1 + copies}, f"arrivals of a duplicated datagram: {sorted(set(duplicated))}, expected {1 + copies}")


def judge_reorder(judge, s, p, delay):
    """A datagram is reordered if one with a higher number arrived before it (RFC 4737, section 3.3)."""
    trials = len(s.sent) - int(2 * delay / INTERVAL)  # nothing overtakes the last datagrams
    reordered, highest = [], -1
    for number, at in s.arrivals:
        if number < highest:
            reordered.append((number, at))
        highest = max(highest, number)
    judge.binomial("reordered", sum(n < trials for n, _ in reordered), trials, p)
    lateness = [at - s.sent[n] - delay for n, at in reordered]
    judge.never_early("arrival of reordered datagrams", lateness)
    judge.in_time("arrival of reordered datagrams", lateness)


def judge_delay(judge, s, latency, jitter):
    """jitter is half the range of the uniform distribution of delays around latency."""
    delays = [at - s.sent[number] for number, at in s.arrivals]
    judge.never_early("arrival", [d - (latency - jitter) for d in delays])
    if jitter:
        for p in (0.1, 0.25, 0.5, 0.75, 0.9):
            judge.delays_below(latency + (2 * p - 1) * jitter, p, delays)
    else:
        judge.in_time("arrival", [d - latency for d in delays])
        judge.late_share = sum(d > latency + TOLERANCE for d in delays) / len(delays)


def judge_rate(judge, s, rate):
    """Computes when the line has sent each datagram, from the times at which they were sent to it: its transmission
    begins when it was sent or when the previous one has left, whichever is later. rate is in bit/s."""
    transmission, left, lateness = (PAYLOAD + HEADERS) * 8 / rate, 0.0, []
    for number, at in s.arrivals:
        left = max(left, s.sent[number]) + transmission
        lateness.append(at - left)
    judge.check(len(s.arrivals) == len(s.sent), f"arrived: {len(s.arrivals)} of {len(s.sent)}")
    judge.never_early("end of transmission", lateness)
    judge.in_time("end of transmission", lateness)
    judge.not_slower(transmission, lateness)


def run_scenario(tui, settings):
    """Starts a proxy with the settings, sends COUNT datagrams in each direction, and returns both streams and the
    JSON totals of the proxy."""
    server = new_socket()
    args = [tui, "proxy", "--headless", "--json", "--seed", "1", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:%d" % server.getsockname()[1]]
    for setting in settings:
        args += ["--set", setting]
    proxy = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        start = proxy.stderr.readline()  # such as "127.0.0.1:27961 -> ..."
        try:
            port = int(start.split(" ")[0].rsplit(":", 1)[1])
        except (IndexError, ValueError):
            raise SystemExit("the proxy did not start: " + start + proxy.stderr.read())
        client = new_socket()
        client.connect(("127.0.0.1", port))
        up, down = exchange(client, server)
        proxy.send_signal(signal.SIGINT)
        out, err = proxy.communicate(timeout=30)
    finally:
        proxy.kill()
        server.close()
    try:
        return up, down, json.loads(out)
    except ValueError:
        raise SystemExit(f"the proxy printed no totals: {out}{err}")


def new_socket():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    s.setblocking(False)
    s.bind(("127.0.0.1", 0))
    return s


def exchange(client, server):
    """Sends COUNT datagrams in each direction. The server's begin after the first datagram of the client.

    A pause of this process also pauses both senders, so that socket buffers do not overflow.
    """
    up, down, peer, quiet = Stream("up"), Stream("down"), None, 0
    due = time.monotonic()
    while quiet < QUIET:
        sending = len(up.sent) < COUNT or peer and len(down.sent) < COUNT
        wait = max(due - time.monotonic(), 0) if sending else POLL
        if sending and wait == 0:
            due = max(due, time.monotonic() - INTERVAL) + INTERVAL
            if len(up.sent) < COUNT:
                up.send(client.send)
            if peer and len(down.sent) < COUNT:
                down.send(lambda data: server.sendto(data, peer))
        ready = select.select([client, server], [], [], wait)[0]
        quiet = 0 if sending or ready else quiet + 1
        for s in ready:
            data, address = s.recvfrom(65536)
            if s is server:
                peer = address
                up.receive(data)
            else:
                down.receive(data)
    if not peer:
        raise SystemExit("no datagram arrived")
    return up, down


def judge_totals(judge, s, totals):
    """Compares the proxy's own counters with what was sent and received."""
    received, t = len(s.arrivals) + s.damaged, totals[s.direction]
    judge.check(s.damaged == 0, f"damaged: {s.damaged}")
    judge.check(t["in"] == len(s.sent) and t["out"] == received and t["in"] + t["copies"] == t["out"] + t["lost"],
                f"totals: sent {len(s.sent)}, received {received}; the proxy read {t['in']}, made {t['copies']} copies, "
                f"lost {t['lost']}, sent {t['out']}")


# For each scenario: the settings of the proxy and, for each direction, the function that judges it with what it expects.
SCENARIOS = [
    (["up.loss=5%", "down.loss=20%", "down.burst=3"], (judge_loss, 0.05, 0), (judge_loss, 0.20, 3)),
    (["up.duplicate=10%", "down.duplicate=3%", "down.duplicate_copies=2"], (judge_duplicates, 0.10, 1), (judge_duplicates, 0.03, 2)),
    (["up.reorder=5%", "up.reorder_delay=100ms", "down.reorder=20%", "down.reorder_delay=100ms"],
     (judge_reorder, 0.05, 0.1), (judge_reorder, 0.20, 0.1)),
    (["up.latency=30ms", "down.latency=100ms", "down.jitter=80ms"], (judge_delay, 0.03, 0), (judge_delay, 0.1, 0.08)),
    (["up.rate=8mbit", "down.rate=6mbit", "link.queue=off"], (judge_rate, 8e6), (judge_rate, 6e6)),
]


def main():
    judge = Judge()
    for settings, *directions in SCENARIOS:
        *streams, totals = run_scenario(sys.argv[1], settings)
        for stream, (judge_direction, *expected) in zip(streams, directions):
            print(f"{stream.direction} of {', '.join(settings)}")
            judge_direction(judge, stream, *expected)
            judge_totals(judge, stream, totals)
    sys.exit(judge.failed)


if __name__ == "__main__":
    main()
