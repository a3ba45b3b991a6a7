#!/usr/bin/env python3
"""Measures how the processor time and the memory of each command grow with one thing: `./dev bench growth`.

  scripts/bench-growth.py [--check] [--limit N] [--tools FOLDER] [--doublings N] [CASE[/COMMAND]]...

A case of the table `CASES` makes traces of a given size. Each command reads them at the size of the table, at twice
that size, and so on. It prints a row a command: processor time (user and system) and peak of the resident set at each
size, and by how much they grow at most with a doubling. What is below a floor (0.1 s, 48 MiB) counts as the floor. The
last rows are the worst of each case.

--check is for CI at night. A command is suspect if twice the size takes more than --limit (2.5) floors; these first runs
are made in a case a core, which makes none of them faster. A suspect fails that takes more than --limit squared times as
much for four times the size: two doublings tell a square (16) from noise, where one (4) did not: streams/idle took 0.28 s
and 0.74 s once. One that fails is measured twice more, alone, and the least counts. A run that ends by a signal, or takes
more than 60 s of processor time or 8 GiB of addresses, fails as well."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

FLOOR_SECONDS = 0.1
FLOOR_MIB = 48
MOST_SECONDS = 60
MOST_BYTES = 8 << 30
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


class Trace:
    """A trace of one rank; times are in us. Durations on the side "new" are 1 % longer."""

    def __init__(self, folder, name="rank0.json", rank=0, world=1, start=0):
        self.file = open(f"{folder}/{name}", "w")
        self.longer = 1.01 if folder.endswith("new") else 1
        self.file.write('{"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":%d,"world_size":%d},'
                        '"baseTimeNanoseconds":%d,"traceEvents":[\n' % (rank, world, start * 1000))
        self.file.write('{"ph":"M","name":"process_name","pid":1,"tid":0,"ts":0,"args":{"name":"python"}}')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.write("\n]}\n")
        self.file.close()

    def event(self, text):
        self.file.write(",\n{" + text + "}")

    def span(self, category, name, ts, dur, pid=1, tid=1, args=""):
        self.event(f'"ph":"X","cat":"{category}","name":"{name}","pid":{pid},"tid":{tid},"ts":{ts},'
                   f'"dur":{dur * self.longer:.3f},"args":{{{args}}}')

    def operator(self, name, ts, dur):
        self.span("cpu_op", name, ts, dur)

    def kernel(self, name, ts, dur, link, device=0, stream=7, tid=7, args=""):
        self.span("cuda_runtime", "cudaLaunchKernel", ts, 1, args=f'"correlation":{link}')
        self.span("kernel", name, ts + 2, dur, device, tid,
                  f'"correlation":{link},"device":{device},"stream":{stream}{args}')

    def all_reduce(self, ts, dur, link, world, group=0):
        self.kernel(ALL_REDUCE, ts, dur, link, stream=20, tid=20, args=(
            f',"Collective name":"allreduce","In msg nelems":1000,"Out msg nelems":1000,"Group size":{world},'
            f'"dtype":"Float","Process Group Name":"{group}","Process Group Description":"default_pg","Seq":{link}'))

    def message(self, ts, dur, link, end, peer):
        way, word, low = ("send", "Dst", peer - 1) if end else ("recv", "Src", peer)
        self.kernel("ncclDevKernel_SendRecv", ts, dur, link, stream=20 + end, tid=20 + end, args=(
            f',"Collective name":"{way}","{word} Rank":{peer},"In msg nelems":1000,"Out msg nelems":1000,"dtype":"Float",'
            f'"Group size":2,"Process Group Name":"p{low}","Process Group Ranks":"[{low}, {low + 1}]"'))

    def step(self, number, ts, dur):
        self.span("user_annotation", f"ProfilerStep#{number}", ts, dur)


def one_trace(fill):
    """A case in which all grows in the trace of one rank, whose one step covers n times 10 us."""
    def make(folder, n):
        with Trace(folder) as trace:
            trace.step(1, 0, 10 * n + 20)
            fill(trace, n)
    return make


def depth(trace, n):
    for i in range(n):
        trace.operator(f"op{i % 50}", i, 10 * n - 2 * i)


def begins(trace, n):
    for i in range(n):
        trace.event(f'"ph":"B","cat":"cpu_op","name":"op{i % 50}","pid":1,"tid":1,"ts":{i}')
    for i in range(n):
        trace.event(f'"ph":"E","pid":1,"tid":1,"ts":{n + i}')


def brackets(trace, n):
    trace.span("cpu_op", "op", 1, 5, args='"list":' + "[" * n + "]" * n)
    trace.kernel("kernel", 10, 5, 1, args=',"map":' + '{"a":' * n + "1" + "}" * n)


def categories(trace, n):
    for i in range(n):
        trace.span(f"category{i}", f"op{i % 50}", 10 * i, 9)


def counters(trace, n):
    for i in range(n):
        trace.event(f'"ph":"C","name":"counter{i}","pid":1,"ts":{10 * i},"args":{{"value":{i}}}')


def steps(folder, n):
    with Trace(folder) as trace:
        for i in range(n):
            trace.step(i, 100 * i, 99)
            trace.kernel("kernel", 100 * i + 5, 80, i)


def ranks(folder, n, collectives=10):
    """No two ranks are alike to the nanosecond: files that may be copies are compared in pairs."""
    for rank in range(n):
        with Trace(folder, f"rank{rank}.json", rank, n, 1_700_000_000_000_000 + rank % 7) as trace:
            for i in range(collectives):
                trace.step(i, 100 * i, 99)
                trace.kernel("kernel", 100 * i + 5, round(30 + rank % 5 + rank / 1000, 3), 2 * i)
                trace.all_reduce(100 * i + 50, 40 - rank % 5, 2 * i + 1, n)


def groups(folder, n):
    """The first half of the ranks is a chain in which neighbours have all-reduces, the others are pairs on their own."""
    for rank in range(n):
        if rank < n // 2:
            own = [group for group in (rank - 1, rank) if 0 <= group < n // 2 - 1]
        else:
            own = [n + rank // 2]
        with Trace(folder, f"rank{rank}.json", rank, n, 1_700_000_000_000_000 + rank % 7) as trace:
            trace.kernel("kernel", 1_000 + rank, 30, 9)
            for i in range(2):
                for group in own:
                    place = 2 * i + group % 2
                    trace.all_reduce(100 + 100 * place, 40 - rank % 5, place, 2, group)


def pipeline(folder, stages, batches):
    """One step of forward passes: each stage receives a batch, computes 50 us and sends it on."""
    for rank in range(stages):
        with Trace(folder, f"rank{rank}.json", rank, stages, 1_700_000_000_000_000) as trace:
            trace.step(1, 0, 100 * (stages + batches) + 100)
            for i in range(batches):
                at = 100 * (rank + i)
                if rank > 0:
                    trace.message(at, 10, 3 * i, False, rank - 1)
                trace.kernel("kernel", at + 20, 50, 3 * i + 1)
                if rank + 1 < stages:
                    trace.message(at + 100, 10, 3 * i + 2, True, rank + 1)


def files(folder, n):
    for i in range(n):
        with Trace(folder, f"rank0_{i}.json", start=1_700_000_000_000_000 + 1000 * i) as trace:
            trace.step(i, 0, 99)
            trace.kernel("kernel", 5, 80, i)


def history(folder, n):
    """Two captures, and next to the one of the base the baselines of n older versions, whose times differ."""
    ranks(folder, 2, 100)
    if not folder.endswith("base"):
        return
    made = subprocess.run([f"{options.tools}/trace-stats", "baseline", folder], check=True, stdout=subprocess.PIPE)
    version = json.loads(made.stdout)
    os.mkdir(f"{folder}.history")
    for i in range(n):
        for capture in version["captures"]:
            capture["name"] = f"v{i}/c0"
            capture["steps_ns"] = [ns + 1 for ns in capture["steps_ns"]]
        with open(f"{folder}.history/v{i}.json", "w") as file:
            json.dump(version, file, separators=(",", ":"))


# The first size, and what makes it.
CASES = {
    "depth": (10_000, one_trace(depth)),
    "begins": (10_000, one_trace(begins)),
    "brackets": (100_000, one_trace(brackets)),
    "streams": (20_000, one_trace(lambda trace, n: [
        trace.kernel(f"kernel{i % 50}", 10 * i, 20, i, stream=i) for i in range(n)])),
    "devices": (20_000, one_trace(lambda trace, n: [
        trace.kernel(f"kernel{i % 50}", 10 * i, 20, i, device=i) for i in range(n)])),
    "names": (20_000, one_trace(lambda trace, n: [
        (trace.operator(f"op{i}", 10 * i, 9), trace.kernel(f"kernel{i}", 10 * i, 9, i)) for i in range(n)])),
    "categories": (20_000, one_trace(categories)),
    "counters": (20_000, one_trace(counters)),
    "steps": (5_000, steps),
    "ranks": (1_000, ranks),
    "groups": (4_000, groups),
    "stages": (500, lambda folder, n: pipeline(folder, n, 8)),
    "batches": (4_000, lambda folder, n: pipeline(folder, 4, n)),
    "files": (1_000, files),
    "collectives": (1_000, lambda folder, n: ranks(folder, 4, n)),
    "history": (1_000, history),
}
# These cases are about one command; the others are measured with all of them.
COMMAND_OF = {"groups": "check", "history": "compare"}


def commands():
    listed = subprocess.run([f"{options.tools}/trace-stats", "--list-commands"], check=True, stdout=subprocess.PIPE)
    return ["merge"] + [line.split()[0] for line in listed.stdout.decode().splitlines()]


def arguments(case, command, base, new, output):
    if command == "merge":
        return [f"{options.tools}/trace-merge", base, "--max-tracks", "10000000", "-o", output]
    inputs = [base]
    if command == "compare":
        inputs = ["--base", base, "--new", new]
        if case == "history":
            inputs += ["--history", f"{base}.history"]
    return [f"{options.tools}/trace-stats", command, *inputs, "-o", output]


def measure(words):
    """Returns seconds, MiB and the exit code, or None if the run did not end by itself."""
    limits = ["prlimit", f"--cpu={MOST_SECONDS}", f"--as={MOST_BYTES}"]
    process = subprocess.Popen(limits + words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode < 0 or process.returncode > 3 or "out of memory" in errors:
        return None
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode


class Inputs:
    """The traces of a case, by size, in folders of their own."""

    def __init__(self, work, case):
        self.folder = f"{work}/{case}"
        self.make = CASES[case][1]
        self.made = set()

    def sides(self, n):
        pair = [f"{self.folder}/{n}/{side}" for side in ("base", "new")]
        for folder in pair:
            if folder not in self.made:
                os.makedirs(folder)
                self.make(folder, n)
                self.made.add(folder)
        return pair


def growth(before, after, floor):
    return after / max(before, floor)


def grows_too_fast(small, large, limit):
    return (small is None or large is None or growth(small[0], large[0], FLOOR_SECONDS) > limit
            or growth(small[1], large[1], FLOOR_MIB) > limit)


def least(runs):
    return None if None in runs else tuple(min(values) for values in zip(*runs))


def check(run, n):
    """Returns the measurements of n and 4n if they differ by too much, else None."""
    large = run(4 * n)
    small = run(n)
    for _ in range(2):
        if not grows_too_fast(small, large, options.limit ** 2):
            return None
        if large is None:
            break
        small, large = least([small, run(n)]), least([large, run(4 * n)])
    return (small, large) if grows_too_fast(small, large, options.limit ** 2) else None


def words_of(run):
    # Exit code 2 says that there would be too many rows, or that what was asked for is not in these traces.
    return "failed" if run is None else f"{run[0]:.2f} s, {run[1]:.0f} MiB" + (", refused" if run[2] == 2 else "")


def print_rows(case, command, run):
    """Prints a row with all sizes; returns the worst growth and the row."""
    n, runs = CASES[case][0], []
    for i in range(options.doublings + 1):
        runs.append(run(n << i))
        if runs[-1] is None:
            break
    worst = [99 if None in runs else max(growth(a[k], b[k], floor) for a, b in zip(runs, runs[1:]))
             for k, floor in enumerate((FLOOR_SECONDS, FLOOR_MIB))]
    row = f"| {case}, {n:,} | {command} | " + " | ".join(map(words_of, runs)) + f" | {worst[0]:.1f} | {worst[1]:.1f} |"
    print(row, flush=True)
    return max(worst), row


def runs_of(work, case):
    """Returns for each chosen command of a case what measures it at a given size."""
    inputs = Inputs(work, case)
    chosen = [command for command in ([COMMAND_OF[case]] if case in COMMAND_OF else commands())
              if not options.only or case in options.only or f"{case}/{command}" in options.only]
    return {command: lambda n, command=command: measure(
        arguments(case, command, *inputs.sides(n), f"{work}/{case}.output")) for command in chosen}


def check_cases():
    """Prints which commands grow too fast, and returns the exit code."""
    wrong = False
    with tempfile.TemporaryDirectory(prefix="growth-") as work:
        def suspects(case):
            floor, n = (FLOOR_SECONDS, FLOOR_MIB), CASES[case][0]
            return [(case, command, run, n) for command, run in runs_of(work, case).items()
                    if grows_too_fast(floor, run(2 * n), options.limit)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for case, command, run, n in [one for some in pool.map(suspects, CASES) for one in some]:
                if found := check(run, n):
                    wrong = True
                    print(f"growth: four times the size takes more than {options.limit ** 2:g} times as much: {case}/{command}: "
                          f"{n}: {words_of(found[0])}; {4 * n}: {words_of(found[1])}")
    return 1 if wrong else 0


def print_table():
    sizes = "".join(f" | x {1 << i}" for i in range(options.doublings + 1))
    print(f"| case, size | command{sizes} | time grows by | memory grows by |")
    print("|:--|:--|" + "--:|" * (options.doublings + 3))
    worst = []
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="growth-") as work:
            if rows := [print_rows(case, command, run) for command, run in runs_of(work, case).items()]:
                worst.append(max(rows)[1])
    print("\nThe worst of each case:\n\n" + "\n".join(worst))
    return 0


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--limit", type=float, default=2.5)
    parser.add_argument("--tools", default="build/release/bin")
    parser.add_argument("--doublings", type=int, default=2)
    parser.add_argument("only", nargs="*", metavar="CASE[/COMMAND]")
    options = parser.parse_args()
    unknown = [name for name in options.only if name.split("/")[0] not in CASES]
    if unknown:
        parser.error(f"no such case: {unknown[0]}; there are {', '.join(CASES)}")
    return check_cases() if options.check else print_table()


if __name__ == "__main__":
    sys.exit(main())
