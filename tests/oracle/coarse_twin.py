#!/usr/bin/env python3
"""A slow, obvious twin of `trace-stats what-if` on coarse time lines: generates some, and compares.

    coarse_twin.py TRACE-STATS FOLDER FIRST-SEED LAST-SEED
"""
import collections
import json
import math
import random
import statistics
import subprocess
import sys

COMPUTE = {"forward-compute", "backward-compute", "gc", "optimizer"}
MESSAGES = {"forward-send", "forward-recv", "backward-send", "backward-recv"}
OF_ALL_REPLICAS = {"params-all-gather", "grads-reduce-scatter", "separate-grads-all-reduce",
                   "optimizer-clip-main-grad"}
ROWS = ["compute", "pp-comm", "tp-comm", "dp-comm", "misc"]
ROUNDING_US = 0.03  # each ideal duration is a whole number of nanoseconds


class Job:
    """A generated job: its operations have a kind, a number and a stage."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.stages, self.replicas = rng.choice([1, 2, 3, 4]), rng.choice([1, 2, 3])
        self.tensor = rng.choice([1, 2])
        self.steps = sorted(rng.sample(range(50), rng.choice([1, 2, 3])))
        self.batches = rng.choice([1, 2, 3, 5])
        self.separate = rng.random() < 0.3
        self.scatters = rng.choice([1, 2] if self.separate else [0, 1, 2])
        self.gathers = rng.choice([0, 1, 2])
        self.embedding = rng.random() < 0.6
        self.time, self.us = {}, {}  # by step, replica and operation
        for step in self.steps:
            for replica in range(self.replicas):
                for stage in range(self.stages):
                    begin = step * 10**6
                    for kind, number in self.order(stage):
                        key = step, replica, (kind, number, stage)
                        self.time[key], self.us[key] = begin, rng.randint(0, 1000) / 4
                        begin += rng.randint(1, 50)

    def order(self, stage):
        """One forward pass, one backward pass in turn; then what ends a step."""
        yield from (("params-all-gather", i) for i in range(self.gathers))
        warm = min(self.batches, self.stages - stage)
        passes = [("forward", i) for i in range(warm)]
        for i in range(self.batches):
            passes.append(("backward", i))
            passes += [("forward", warm + i)] if warm + i < self.batches else []
        first, last = stage == 0, stage == self.stages - 1
        for way, i in passes:
            if not (first if way == "forward" else last):
                yield way + "-recv", i
            yield way + "-compute", i
            if not (last if way == "forward" else first):
                yield way + "-send", i
        yield from (("gc", 0), ("layernorm-grads-all-reduce", 0))
        if self.embedding and (first or last):
            yield "embedding-grads-all-reduce", 0
        yield from (("grads-reduce-scatter", i) for i in range(self.scatters))
        if self.separate:
            yield "separate-grads-all-reduce", 0
        yield from (("optimizer-clip-main-grad", 0), ("optimizer", 0))

    def rank(self, stage, replica):
        return (stage * self.replicas + replica) * self.tensor

    def events(self):
        for (step, replica, (kind, number, stage)), us in self.us.items():
            row = 4 if kind in ("gc", "optimizer") else 0 if kind in COMPUTE else 1 if kind in MESSAGES else 3
            yield {"name": kind, "cat": kind, "ph": "X", "pid": replica, "tid": 5 * self.rank(stage, replica) + row,
                   "ts": self.time[step, replica, (kind, number, stage)], "dur": us,
                   "args": {"step": step, "seq_id": number, "model_chunk": 0, "mb_id": -1}}
        for stage in range(self.stages):
            for replica in range(self.replicas):
                for i, row in enumerate(ROWS):
                    yield {"name": "thread_name", "ph": "M", "pid": replica, "tid": 5 * self.rank(stage, replica) + i,
                           "args": {"name": f"PP rank {stage}, TP rank 0, {row}"}}


class Replay:
    def __init__(self, job):
        self.job = job
        first = job.steps[0]
        self.begin = {op: t for (step, replica, op), t in job.time.items() if (step, replica) == (first, 0)}
        self.end = {op: t + job.us[first, 0, op] for op, t in self.begin.items()}
        self.waits_for = collections.defaultdict(set)
        for stage in range(job.stages):
            self.add_passes(stage)
            self.add_end(stage)
        by_kind = collections.defaultdict(list)
        for (_, _, op), us in job.us.items():
            by_kind[op[0]].append(us)
        self.ideal = {kind: statistics.fmean(us) if kind in COMPUTE else statistics.median(us)
                      for kind, us in by_kind.items()}

    def of(self, stage, *kinds):
        ops = [op for op in self.begin if op[2] == stage and op[0] in kinds]
        return sorted(ops, key=lambda op: (self.begin[op], op[1], op[0]))

    def chain(self, ops):
        for before, after in zip(ops, ops[1:]):
            self.waits_for[after].add(before)

    def add_passes(self, stage):
        passes = self.of(stage, "forward-compute", "backward-compute")
        self.chain(passes)
        for kind in MESSAGES:
            self.chain(sorted(self.of(stage, kind), key=lambda op: op[1]))
        for way in ("forward", "backward"):
            for op in self.of(stage, way + "-send"):
                self.waits_for[op].add((way + "-compute", op[1], stage))
            for op in self.of(stage, way + "-recv"):
                self.waits_for[way + "-compute", op[1], stage].add(op)
                if op[1] > 0:
                    self.waits_for[op].add((way + "-compute", op[1] - 1, stage))
        place = [op[0] for op in passes].index("backward-compute")
        if place >= 2:
            for op in self.of(stage, "backward-recv", "backward-send"):
                if op[1] == 0:
                    self.waits_for[op].add(passes[place - 2])
        if self.job.replicas > 1:
            self.chain(self.of(stage, "params-all-gather", "grads-reduce-scatter"))
            gathers = self.of(stage, "params-all-gather")
            if gathers:
                self.waits_for["forward-compute", 0, stage].add(max(gathers, key=lambda op: op[1]))

    def add_end(self, stage):
        scatters = self.of(stage, "grads-reduce-scatter")
        before = [op for kind in ("layernorm-grads-all-reduce", "embedding-grads-all-reduce")
                  for op in self.of(stage, kind)]
        after = self.of(stage, "optimizer-clip-main-grad") + self.of(stage, "optimizer")
        collections_ = self.of(stage, "gc")
        separate = self.of(stage, "separate-grads-all-reduce")
        if separate:
            last = max(self.of(stage, "backward-compute"), key=self.end.get)
            self.waits_for[scatters[0]].add(last)
            self.waits_for[before[0]] |= {scatters[-1], collections_[0]}
            self.chain(before + separate + after)
        else:
            last = max(self.of(stage, "forward-compute", "backward-compute"), key=self.end.get)
            self.chain([last] + collections_ + before + (scatters if self.job.replicas > 1 else []) + after)

    @staticmethod
    def group(op, replica):
        """What has the same group begins together."""
        kind, number, stage = op
        where = None if kind in OF_ALL_REPLICAS else replica
        if kind in MESSAGES:
            way, end = kind.split("-")
            return way, number, stage - {"forward": 1, "backward": -1}[way] * (end == "recv"), where
        if kind in ("embedding-grads-all-reduce", "optimizer-clip-main-grad"):
            return kind, number, where
        return op, where

    def run(self, is_recorded):
        """The time of each step; is_recorded(replica, operation) chooses the duration."""
        times = []
        for step in self.job.steps:
            members, end = collections.defaultdict(list), {}
            for replica in range(self.job.replicas):
                for op in self.begin:
                    members[self.group(op, replica)].append((replica, op))

            def finish(group):
                ready = 0
                for replica, op in members[group]:
                    for other in self.waits_for[op]:
                        if (replica, other) not in end:
                            finish(self.group(other, replica))
                        ready = max(ready, end[replica, other])
                for replica, op in members[group]:
                    us = self.job.us[step, replica, op] if is_recorded(replica, op) else self.ideal[op[0]]
                    end[replica, op] = ready + us

            for group in list(members):
                finish(group)
            times.append(max(end.values()))
        return times


def part_name(kind):
    return kind.split("-")[0] + "-pp-comm" if kind in MESSAGES else kind


def compare(seed, answer):
    job = Job(seed)
    replay = Replay(job)
    mean = statistics.fmean

    def check(got, wanted, what, most=ROUNDING_US):
        assert abs(got - wanted) <= most, f"seed {seed}: {what}: {got}, not {wanted}"

    recorded, ideal = replay.run(lambda *_: True), replay.run(lambda *_: False)
    check(answer["step_ns"] / 1e3, mean(recorded), "step")
    check(answer["ideal_step_ns"] / 1e3, mean(ideal), "ideal step")
    assert [row["step"] for row in answer["steps"]] == job.steps
    for row, us, ideal_us in zip(answer["steps"], recorded, ideal):
        check(row["step_ns"] / 1e3, us, "step")
        check(row["slowdown"], us / ideal_us, "slowdown of a step", 1e-4)

    def check_part(row, is_in, what):
        check(row["slowdown"], mean(replay.run(is_in)) / mean(ideal), what, 1e-4)
        without = mean(replay.run(lambda replica, op: not is_in(replica, op)))
        check(row["gain_ns"] / 1e3, mean(recorded) - without, "gain of " + what)

    for row in answer["kinds"]:
        check_part(row, lambda _, op: part_name(op[0]) == row["kind"], row["kind"])
    for row in answer["stages"]:
        check_part(row, lambda _, op: op[2] == row["stage"], "stage")
    for row in answer["replicas"]:
        check_part(row, lambda replica, _: replica == row["replica"], "replica")
    for row in answer["ranks"]:
        assert row["rank"] == job.rank(row["stage"], row["replica"])
        check_part(row, lambda replica, op: (op[2], replica) == (row["stage"], row["replica"]), "rank")
    scores = sorted((-min(of_stage["slowdown"], of_replica["slowdown"]), job.rank(of_stage["stage"], of_replica["replica"]))
                    for of_stage in answer["stages"] for of_replica in answer["replicas"])
    slowest = [rank for _, rank in scores[:math.ceil(0.03 * len(scores))]]
    assert answer["slowest_ranks"] == sorted(slowest), f"seed {seed}: {answer['slowest_ranks']}, not {slowest}"
    without = mean(replay.run(lambda replica, op: job.rank(op[2], replica) not in slowest))
    check(answer["slowest_ranks_gain_ns"] / 1e3, mean(recorded) - without, "gain of the slowest ranks")


def main():
    tool, folder, first, last = sys.argv[1:]
    for seed in range(int(first), int(last)):
        path = f"{folder}/coarse_twin.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(list(Job(seed).events()), file)
        answer = subprocess.run([tool, "what-if", path, "--format", "json"], check=True, capture_output=True).stdout
        compare(seed, json.loads(answer))
    print(f"{int(last) - int(first)} jobs agree")


main()
