#!/usr/bin/env python3
"""Opens pages of `trace-stats report --base A --new B` in headless Chromium.

    tests/report/comparison_test.py TRACE_STATS TESTDATA

Pairs: three captures a side of two ranks, GPU traces of 8 ranks whose last rank becomes slower, and
256 ranks with names that attack. Every number of a side must be that of `--format json` of the
command beside it, and every delta the difference of both sides. Ends with 77 (skipped) without
Chromium.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import webdriver  # noqa: E402
from browser_test import ATTACKS, Failures, SECTIONS, check_alone, check_sections, is_same, number_of, write_run  # noqa: E402


SIDES = ("base", "new")


class Pair:
    """A page of two sides, with what the checks of one side need of a page."""

    def __init__(self, tool, name, sides, folder, failures):
        self.tool, self.name, self.sides, self.failures = tool, name, sides, failures
        self.path = folder / f"{name}.html"
        self.answers = {}
        done = subprocess.run([tool, "report", *self.words(), "-o", self.path], capture_output=True, text=True)
        self.expect(done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-300:]}")

    def words(self):
        return ["--base", self.sides["base"], "--new", self.sides["new"]]

    def expect(self, truth, text):
        self.failures.expect(truth, f"{self.name}: {text}")

    def url(self, place=""):
        return f"file://{self.path}{place}"

    def json_of(self, command, side):
        """The answer for the capture that the page shows of a side, or of the comparison."""
        if (command, side) not in self.answers:
            inputs = self.words() if command == "compare" else [self.shown[side]]
            more = ["--by", "all", "--min-share", "0%"] if command == "tree" else []
            done = subprocess.run([self.tool, command, *inputs, *more, "--format", "json"],
                                  capture_output=True, text=True)
            self.answers[command, side] = json.loads(done.stdout)
        return self.answers[command, side]


def tables_of(browser):
    """Of each table its side or null, its name, and its rows by the keys of their columns."""
    return browser.run("""
      return [...document.querySelectorAll('table.data')].map((table) => {
        const heads = [...table.tHead.rows[0].cells];
        const side = table.closest('[data-side]');
        return [side && side.dataset.side, table.dataset.t, [...table.tBodies[0].rows].map((row) =>
          Object.fromEntries(heads.map((head, i) => {
            const cell = row.cells[i];
            const isNumber = head.classList.contains('n');
            return [head.dataset.k, isNumber ? [cell.dataset.v === undefined ? null : cell.dataset.v] :
              cell.textContent.trim()];
          })))];
      });""")


def is_cell(shown, value):
    return number_of(shown[0]) == number_of(None if value is None else str(value).lower()) \
        if isinstance(shown, list) else is_same(shown, value)


def has_row(rows, shown, renamed=lambda key: key):
    return any(all(renamed(key) not in row or is_cell(cell, row[renamed(key)]) for key, cell in shown.items())
               for row in rows)


def check_joined(page, source, rows):
    """Base and new are rows of both sides, and the delta is their difference."""
    command, key = source.split(".")
    for row in rows:
        for name, cell in row.items():
            if not name.startswith("delta_"):
                continue
            base, new = (number_of(row[f"{side}_{name[6:]}"][0]) for side in SIDES)
            expected = None if base is None or new is None else new - base
            shown = number_of(cell[0])
            page.expect(shown == expected or abs(shown - expected) < 1e-9,
                        f"{source}: {name} is {shown}, not {expected}: {row}")
        for side in SIDES:
            values = {key: cell for key, cell in row.items() if key.startswith(f"{side}_")}
            if all(cell == [None] for cell in values.values()):
                continue
            keys = {key: cell for key, cell in row.items() if not key.startswith(("base_", "new_", "delta_"))}
            page.expect(has_row(page.json_of(command, side)[key],
                                {**keys, **{name[len(side) + 1:]: cell for name, cell in values.items()}}),
                        f"{source}: the {side} side has no such row: {row}"[:600])


def check_tables(page, browser):
    compared, joined = 0, 0
    tables = tables_of(browser)
    for side, source, rows in tables:
        command, key = source.split(".")
        if source == "page.rank_roles":
            for row in rows:
                parts = sum(number_of(cell[0]) for name, cell in row.items()
                            if name.startswith("delta_") and name != "delta_ns")
                page.expect(parts == number_of(row["delta_ns"][0]), f"roles do not add up: {row}")
        elif source == "page.operators":
            continue
        elif command == "compare" or side:
            compared += len(rows)
            for row in rows:
                # A share of the page, or a delta of totals, is not in the JSON.
                page.expect(has_row(page.json_of(command, side)[key], row), f"{side} {source}: no such row: {row}"[:600])
        else:
            joined += len(rows)
            check_joined(page, source, rows)
    page.expect(compared > 40 and joined > 5, f"{compared} rows of commands, {joined} joined ones")
    verdict = browser.run("return document.getElementById('verdict').dataset.kind")
    page.expect(verdict == page.json_of("compare", None)["verdict"]["kind"], f"the verdict is {verdict}")
    for side in SIDES:
        kind = browser.run("return document.getElementById(arguments[0]).dataset.kind", f"{side}-verdict")
        page.expect(kind == page.json_of("bottleneck", side)["verdict"]["kind"], f"{side} is {kind}")


def check_delta_map(page, browser):
    browser.run("location.hash = 'overview'; page.follow()")
    grid = browser.run("return page.heats.delta.grid")
    steps = {side: {(str(row["rank"]), str(row["step"])): row["total_ns"]
                    for row in page.json_of("steps", side)["rows"] if row["counted"]} for side in SIDES}
    for i, rank in enumerate(grid["rows"][:8]):
        for k, step in enumerate(grid["steps"][:6]):
            value = browser.run("return page.heats.delta.valueOf(arguments[0])", i * len(grid["steps"]) + k)
            delta = steps["new"][rank, step] - steps["base"][rank, step]
            page.expect(abs(value - delta) <= grid["max_ns"] / 32767, f"rank {rank} step {step}: {value}, not {delta}")
    words = browser.run("return page.heats.delta.words(0, 0)")
    page.expect(words.startswith(f"rank {grid['rows'][0]}, step {grid['steps'][0]}: ") and words.split(": ")[1][0] in "+-",
                f"the words of a cell are {words}")
    # The darkest of both directions can be told apart, also as greys, from no change.
    shorter, none, longer = (browser.run("return page.deltaColour(arguments[0])", share) for share in (-1, 0, 1))
    page.expect((shorter, none, longer) == ("rgb(0 68 136)", "rgb(238 238 238)", "rgb(176 72 0)"),
                f"colours: {shorter}, {none}, {longer}")


def check_pictures(page, browser):
    """Each picture of each side is drawn, has a name, and is led to by a click."""
    for section, names in (("overview", ["delta-heat", "base-heat", "new-heat"]),
                           ("code", ["base-flame", "new-flame"]),
                           ("timeline", ["base-timeline-canvas", "new-timeline-canvas"])):
        browser.run("location.hash = arguments[0]; page.follow()", section)
        for name in names:
            colours, label = browser.run("""
              const canvas = document.getElementById(arguments[0]);
              const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
              const seen = new Set();
              for (let i = 0; i < data.length; i += 4 * 97) seen.add(data.slice(i, i + 4).join());
              return [seen.size, canvas.getAttribute('aria-label')]""", name)
            page.expect(colours > 2 and label, f"{name} has {colours} colours and the name {label}")
    bars = browser.run("return [...document.querySelectorAll('#time > .bars .label')].map((one) => one.textContent)")
    page.expect(bars[:2] == ["rank 0 base", "rank 0 new"], f"the bars are {bars[:4]}")
    for side, expected in (("delta", "new"), ("base", "base"), ("new", "new")):
        browser.run("location.hash = 'overview'; page.follow()")
        x, y = browser.run("""const c = document.getElementById(arguments[0] + '-heat'); c.scrollIntoView(); scrollBy(0, -150);
          const b = c.getBoundingClientRect(); const p = page.heats[arguments[0]].place();
          return [b.left + p.left + p.cell / 2, b.top + p.top + p.rowHeight / 2]""", side)
        browser.point(x, y, click=True)
        seen = browser.place("timeline")
        page.expect(seen[1] == "timeline" and f"&side={expected}" in seen[0], f"{side} leads to {seen}")
    browser.run("document.getElementById('base-timeline-canvas').focus()")
    browser.press("w")
    shown = [browser.run("const v = traceloom.view(arguments[0]); return [v.start_ns, v.end_ns]", one) for one in SIDES]
    page.expect(all(abs(a - b) < 1 for a, b in zip(*shown)), f"the sides show {shown} of their median steps")


def check_headings(page, browser):
    for section in SECTIONS[:-1]:
        names = browser.run("return [...document.querySelectorAll(`#${arguments[0]} .side-name`)]"
                            ".map((one) => one.textContent)", section)
        page.expect(names == [f"Base: {page.shown['base']}", f"New: {page.shown['new']}"], f"{section}: {names}")
    twice = browser.run("const ids = [...document.querySelectorAll('[id]')].map((one) => one.id);"
                        "return ids.filter((id, i) => ids.indexOf(id) !== i)")
    page.expect(twice == [], f"ids are there twice: {twice}")


def check_page(page, browser):
    browser.requests()
    browser.open(page.url())
    page.expect(page.path.stat().st_size <= 2 << 20, f"has {page.path.stat().st_size} bytes")
    check_alone(page, browser)
    for width in (390, 1280, 2560):
        browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        check_sections(page, browser)
    browser.devtools("Emulation.clearDeviceMetricsOverride")
    names = browser.run("return [...document.querySelectorAll('#overview .side-name')].map((one) => one.textContent)")
    page.shown = {side: name.split(": ", 1)[1] for side, name in zip(SIDES, names)}
    check_headings(page, browser)
    check_tables(page, browser)
    check_delta_map(page, browser)
    check_pictures(page, browser)
    check_alone(page, browser)


def main():
    tool, testdata = sys.argv[1], pathlib.Path(sys.argv[2])
    if not webdriver.is_installed():
        print("skipped: chromium and chromedriver are not installed (apt-get install chromium chromium-driver)")
        return 77
    failures = Failures()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="report-pairs-"))
    try:
        usual = [f"gemm_{i}<float, {i}>(float const*, int)" for i in range(12)]
        for side, longer, names in (("base", 0.0, usual), ("new", 300.0, [*usual[:10], "fused_gemm<float>"])):
            write_run(folder / "gpu" / side, 8, 8, 12, names, longer)
            for snapshot in (testdata / "memory").glob("*.pickle"):
                shutil.copy(snapshot, folder / "gpu" / side)
            write_run(folder / "many" / side, 256, 8, 2, ATTACKS[:8], longer)
        pairs = [Pair(tool, name, {side: str(place / side) for side in SIDES}, folder, failures)
                 for name, place in (("compare", testdata / "compare"), ("gpu", folder / "gpu"),
                                     ("many", folder / "many"))]
        with webdriver.Browser() as browser:
            for page in pairs:
                check_page(page, browser)
                if page.name == "gpu":
                    curves = browser.run("""return [...document.querySelectorAll('#memory .side')].map((side) =>
                      side.querySelectorAll('.curve .mark').length)""")
                    page.expect(curves == [2, 2], f"has {curves} curves of snapshots")
        again = folder / "again.html"
        subprocess.run([tool, "report", *pairs[1].words(), "-j", "1", "-o", again], check=True)
        failures.expect(again.read_bytes() == pairs[1].path.read_bytes(), "one thread gives other bytes")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(failures.texts)} failures")
    return 1 if failures.texts else 0


if __name__ == "__main__":
    sys.exit(main())
