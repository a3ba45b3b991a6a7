#!/usr/bin/env python3
"""Checks mesh, bubbles, what-if and info against jobs whose truth is known.

  scripts/check-mesh.py build/release/bin/trace-stats SETS CASES.json

CASES.json has for each case a name, its arguments and its checks; SETS/NAME/traces has its traces.
Prints what does not hold, and how many checks do. Exit code 1 if one does not.
"""
import json
import re
import subprocess
import sys

CHANGES = {"collectives free": "collectives = 0", "p2p free": "messages = 0", "loader free": "loader = 0",
           "all communication free": "communication = 0"}
PARTS = ("rank", "stage", "link", "group")


def ask(tool, command, traces, *options):
    done = subprocess.run([tool, command, traces, "--format", "json", *options], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr}


def changes_of(case, change):
    """Returns --set options for a change as the case names it."""
    if change in CHANGES:
        return [CHANGES[change]]
    if found := re.fullmatch(r"(\w+) free", change):
        return [f"{found[1]} = 0"]
    if found := re.fullmatch(r"rank (\d+) as the others", change):
        return [f"rank {found[1]} = median"]
    if found := re.fullmatch(r"kernel (\S+) (\d+) % faster", change):
        return [f"kernel ^{found[1]}$ = -{found[2]}%"]
    tensor = int((re.search(r"--tp (\d+)", case["arguments"]) or [0, 1])[1])
    slow = []
    for part in PARTS:
        for name in re.findall(rf"--slow-{part} ([^: ]+):", case["arguments"]):
            if part == "group":  # tp@3: the fourth group of tensor parallel ranks, which are neighbours
                first = int(name.split("@")[1]) * tensor
                name = ",".join(str(first + i) for i in range(tensor))
            if change in ("nothing slow", f"slow-{part} removed"):
                slow.append(f"{part} {name} = median")
    return slow


def sets(options):
    return [word for option in options for word in ("--set", option)]


class Case:
    def __init__(self, tool, folder, case):
        self.ask = lambda command, *options: ask(tool, command, f"{folder}/{case['name']}/traces", *options)
        self.case = case
        self.bubbles = self.ask("bubbles")
        self.mesh = self.ask("mesh")
        self.clocks = {row["rank"]: row for row in self.ask("info").get("clocks", [])}

    def differs(self, check):
        """Returns what is said instead, or None if the check holds."""
        what = check["what"]
        if what == "step_ns":
            said = self.bubbles["mean"]["step_ns"]
            return said if abs(said - check["expected"]) > check["relative_tolerance"] * check["expected"] else None
        if what == "mesh":
            said = {key: self.mesh["mesh"][key] for key in check["expected"]}
            places = [{"tp": row["tp"], "pp": row["stage"], "dp": row["dp"]} for row in self.mesh["ranks"]]
            return (said, places) if (said, places) != (check["expected"], check["ranks"]) else None
        if what.startswith("share of a step by stage"):
            said = [row[what.split(": ")[1] + "_share"] for row in self.bubbles["stages"]]
            if None in said:
                return None if check.get("may_be_refused") else said
            return self.apart([100 * share for share in said], check["expected"], check["tolerance_points"])
        if what == "critical path by class":
            said = {row["class"]: 100 * row["share"] for row in self.ask("what-if")["path"]}
            names = list(check["expected"])
            return self.apart([said.get(name, 0) for name in names], [check["expected"][name] for name in names],
                              check["tolerance_points"])
        if what == "what-if":
            said = self.ask("what-if", *sets(changes_of(self.case, check["change"])))
            if not said.get("rows"):
                return said.get("answer") or said
            row = said["rows"][0]
            holds = (abs(row["step_ns"] - check["expected_step_ns"]) <= check["relative_tolerance"] * check["expected_step_ns"]
                     and abs(row["gain_ns"] - check["gain_ns"]) <= check["gain_tolerance_ns"])
            return None if holds else row
        if what.startswith("clock offsets"):
            return self.clocks_differ(check)
        if what == "refusal":
            refusal = self.ask("what-if")["answer"]["refusal"]
            return None if refusal else "no refusal"
        return "a check that this script does not know"

    def clocks_differ(self, check):
        """Each clock is as far ahead as it is within its bound; typically within 5 us."""
        true_ns = next(one["true_ns"] for one in self.case["checks"] if "true_ns" in one)
        # Without rows all ranks have the clock of their machine as it is; one without a file has no row.
        rows = self.clocks or {rank: {"shift_ns": 0, "bound_ns": 0} for rank in range(len(true_ns))}
        first_ns = rows[min(rows)]["shift_ns"]
        off = {rank: abs(first_ns - row["shift_ns"] - true_ns[rank]) for rank, row in rows.items()}
        if "true_ns" not in check:
            return off if sorted(off.values())[len(off) // 2] > 5000 else None
        return {rank: ns for rank, ns in off.items() if ns > rows[rank]["bound_ns"]} or None

    @staticmethod
    def apart(said, expected, most):
        return said if max(abs(a - b) for a, b in zip(said, expected, strict=True)) > most else None


def main():
    tool, folder, cases = sys.argv[1:]
    holds = fails = 0
    with open(cases, encoding="utf-8") as file:
        all_cases = json.load(file)["cases"]
    for case in all_cases:
        tried = Case(tool, folder, case)
        for check in case["checks"]:
            said = tried.differs(check)
            holds += said is None
            fails += said is not None
            if said is not None:
                print(f"{case['name']}: {check['what']} {check.get('change', '')}: {said}")
    print(f"{holds} checks hold, {fails} do not")
    return 1 if fails else 0


if __name__ == "__main__":
    sys.exit(main())
