#!/usr/bin/env python3
"""Opens pages of `trace-stats report` in headless Chromium and checks what a person would see.

    tests/report/browser_test.py TRACE_STATS TESTDATA

Pages: Composer's traces of 4 ranks, GPU traces of 8 ranks, names that attack, an empty trace, and
1,024 ranks, and more steps than a heat map has columns. Every number in every table must be that of `--format json` of the command beside it.
Ends with 77 (skipped) where Chromium or chromedriver is not installed. Limits of time are generous,
because a machine of CI is busy; `--figures` prints what was measured.
"""
import http.server
import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import webdriver  # noqa: E402

SECTIONS = ["overview", "time", "comm", "job", "devices", "work", "code", "timeline", "memory", "files",
            "definitions"]
ATTACKS = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "\" onclick=\"x",
           "'; -- &lt;b&gt;", "\u202eright to left", "tab\there", "漢字" * 30, "${alert(3)}",
           "A" * 100_000]


# ---- traces ------------------------------------------------------------------------------------
def event(name, cat, tid, ts, dur, pid=100, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
            "args": args}


def gpu_rank(rank, steps, launches, names, ranks, longer=0.0):
    """A rank of a training as torch.profiler writes it; the last rank comes late to each
    collective, and `longer` us later than usual."""
    rng = random.Random(rank)
    events = []
    time, correlation = 1000.0, 0
    for step in range(steps):
        begin = time
        for k in range(launches):
            length = round(rng.uniform(5, 60), 3)
            correlation += 1
            events.append(event(f"aten::op{k % 9}", "cpu_op", 7, time, round(length / 2, 3)))
            events.append(event("cudaLaunchKernel", "cuda_runtime", 7, time + .5, 2.0,
                                correlation=correlation))
            events.append(event(names[k % len(names)], "kernel", 7, time + 6, round(length * .8, 3),
                                pid=0, device=0, stream=7, correlation=correlation))
            time = round(time + length, 3)
        late = 90.0 + longer if rank == ranks - 1 else 10.0
        time = round(time + late, 3)
        end = begin + (200.0 + 7 * step) * launches + longer
        events.append(event("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                            "kernel", 20, time, round(end - time, 3), pid=0, device=0, stream=20,
                            correlation=10**6 + step))
        events.append(event(f"ProfilerStep#{step}", "user_annotation", 7, begin, round(end - begin, 3)))
        time = end
    return {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": ranks},
            "baseTimeNanoseconds": 1_700_000_000_000_000_000, "traceEvents": events}


def write_run(folder, ranks, steps, launches, names, longer=0.0):
    folder.mkdir(parents=True)
    for rank in range(ranks):
        (folder / f"rank{rank}.pt.trace.json").write_text(
            json.dumps(gpu_rank(rank, steps, launches, names, ranks, longer)))
    return folder


# ---- checks ------------------------------------------------------------------------------------
class Failures:
    def __init__(self):
        self.texts = []

    def expect(self, truth, text):
        if not truth:
            self.texts.append(text)
            print("FAILED:", text, flush=True)


class Page:
    def __init__(self, tool, name, inputs, folder, failures):
        self.name, self.tool, self.inputs, self.failures = name, tool, inputs, failures
        self.path = folder / f"{name}.html"
        done = subprocess.run([tool, "report", *inputs, "-o", self.path], capture_output=True, text=True)
        self.expect(done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-300:]}")

    def expect(self, truth, text):
        self.failures.expect(truth, f"{self.name}: {text}")

    def url(self, place=""):
        return f"file://{self.path}{place}"

    def json_of(self, command, *more):
        words = more or {"tree": ["--by", "all", "--min-share", "0%"]}.get(command, [])
        done = subprocess.run([self.tool, command, *self.inputs, *words, "--format", "json"],
                              capture_output=True, text=True)
        return json.loads(done.stdout)


def check_alone(page, browser):
    """The page asks for nothing but itself, and says nothing on the console."""
    # Chromium's own start page has the scheme chrome:.
    urls = [url for url in browser.requests() if not url.startswith(("data:", "chrome:", "about:"))]
    page.expect({url.split("#")[0] for url in urls} <= {page.url()}, f"asked for {urls}")
    console = browser.console()
    page.expect(console == [], f"console: {console}")
    page.expect(browser.run("return document.images.length") == 0, "has images")
    page.expect(browser.run("return document.querySelectorAll('script:not([type])').length") == 1,
                "has other scripts than its own")
    page.expect(browser.run("return window.location.href.startsWith('file:')"), "left its file")


def check_sections(page, browser):
    for section in SECTIONS:
        browser.run("location.hash = arguments[0]", section)
        seen = browser.run(
            "page.follow(); const s = [...document.querySelectorAll('main > section')]"
            ".filter((one) => one.offsetHeight > 0); return s.map((one) => [one.id, one.innerText.length])")
        page.expect(len(seen) == 1 and seen[0][0] == section and seen[0][1] > 20,
                    f"section {section}: {seen}")
        wide = browser.run("return document.scrollingElement.scrollWidth - innerWidth")
        page.expect(wide <= 0, f"section {section} is {wide} pixels wider than the window")


def rows_of_page(browser):
    """Of each table its name, and its rows as objects, with the exact numbers."""
    return browser.run("""
      return [...document.querySelectorAll('table.data')].map((table) => {
        const heads = [...table.tHead.rows[0].cells];
        return [table.dataset.t, [...table.tBodies[0].rows].map((row) => heads.map((head, i) => {
          const cell = row.cells[i];
          const isNumber = head.classList.contains('n');
          return [head.dataset.k, isNumber,
                  isNumber ? (cell.dataset.v === undefined ? null : cell.dataset.v) : cell.textContent.trim()];
        }))];
      });""")


def number_of(value):
    return {None: None, "true": 1.0, "false": 0.0}[value] if value in (None, "true", "false") else float(value)


def is_same(shown, value):
    if value is None:
        return shown == "-"
    return shown == str(value).strip() or "…" in shown or not str(value).isprintable()


def check_numbers(page, browser):
    answers, count = {}, 0
    for source, rows in rows_of_page(browser):
        command, key = source.split(".")
        if command not in answers:
            answers[command] = page.json_of(command)
        expected = answers[command].get(key)
        page.expect(isinstance(expected, list), f"{source} is no table of the JSON")
        # The page may show the largest rows only, so each is looked for, by its numbers.
        keys = [key for key, is_number, _ in rows[0] if is_number] if rows else []
        by_numbers = {}
        for one in expected or []:
            by_numbers.setdefault(tuple(number_of(one.get(key)) for key in keys), []).append(one)
        for row in rows:
            count += len(row)
            numbers = tuple(number_of(shown) for _, is_number, shown in row if is_number)
            page.expect(any(all(is_same(shown, one.get(key)) for key, is_number, shown in row if not is_number)
                            for one in by_numbers.get(numbers, [])),
                        f"{source}: no such row in the JSON: {row}"[:600])
    page.expect(count > 0, "no table has a row")
    kind = browser.run("return document.getElementById('verdict').dataset.kind")
    verdict = answers.setdefault("bottleneck", page.json_of("bottleneck"))["verdict"]["kind"]
    page.expect(kind == verdict, f"verdict {kind}, but the JSON says {verdict}")
    return count


def check_bars(page, browser):
    """The parts of each rank's bar add up to its step, as `steps` has it."""
    browser.run("location.hash = 'time'; page.follow()")
    bars = browser.run("""
      return [...document.querySelector('#time .bars').querySelectorAll('svg')].map((svg) => [
        svg.getAttribute('aria-label'),
        [...svg.querySelectorAll('rect')].reduce((sum, rect) => sum + rect.getBoundingClientRect().width, 0) /
          svg.getBoundingClientRect().width])""")
    means = {f"rank {row['rank']}": row["total_ns"] for row in page.json_of("steps")["summary"]
             if row["statistic"] == "mean"}
    longest = max(means.values())
    page.expect(len(bars) > 0, "no bars of ranks")
    for label, share in bars:
        rank = label.split(":")[0]
        page.expect(abs(share - means[rank] / longest) < .002, f"bar of {rank} is {share}, not {means[rank] / longest}")


def check_table_use(page, browser):
    browser.run("location.hash = 'work'; page.follow()")
    name = "document.querySelector('table[data-t=\"kernels.rows\"]')"
    numbers = f"return [...{name}.tBodies[0].rows].map((row) => Number(row.cells[1].dataset.v))"
    head = f"{name}.tHead.rows[0].cells[1]"
    browser.run(f"{head}.querySelector('button').click()")
    down = browser.run(numbers)
    page.expect(down == sorted(down, reverse=True), "does not sort in descending order")
    page.expect(browser.run(f"return {head}.getAttribute('aria-sort')") == "descending", "aria-sort is wrong")
    browser.run(f"{head}.querySelector('button').click()")
    page.expect(browser.run(numbers) == sorted(down), "does not sort in ascending order")
    if len(down) > 8:
        browser.run(f"""const input = {name}.parentElement.previousElementSibling.querySelector('input');
          input.value = {name}.tBodies[0].rows[0].cells[{name}.tHead.rows[0].cells.length - 1].textContent.slice(0, 12);
          input.dispatchEvent(new Event('input'))""")
        left = browser.run(f"return [...{name}.tBodies[0].rows].filter((row) => !row.hidden).length")
        page.expect(0 < left < len(down), f"the filter leaves {left} of {len(down)} rows")


def check_heat_map(page, browser):
    grid = browser.run("location.hash = 'overview'; page.follow(); return page.json('grid')")
    steps = {(str(row["rank"]), str(row["step"])): row["total_ns"] for row in page.json_of("steps")["rows"]
             if row["counted"]}
    page.expect(browser.run("return page.heats[''].value()").startswith("own time"), "the heat map does not begin with own times")
    if grid["ranks_a_row"] == 1 and "columns" not in grid:
        own = browser.run("return page.json('grid').rows.map((_, i) => page.heats[''].valueOf(i * page.json('grid').steps.length))")
        browser.run("const s = document.getElementById('heat-role'); s.value = '-1'; s.dispatchEvent(new Event('change'))")
        whole = browser.run("return page.json('grid').rows.map((_, i) => page.heats[''].valueOf(i * page.json('grid').steps.length))")
        page.expect(all(a is None or a <= b for a, b in zip(own, whole)), f"own times {own} of steps of {whole}")
        for i, rank in enumerate(grid["rows"][:4]):
            for k, step in enumerate(grid["steps"][:4]):
                value = browser.run(f"return page.heats[''].valueOf({i * len(grid['steps']) + k})")
                page.expect(abs(value - steps[(rank, step)]) <= grid["max_ns"] / 60000,
                            f"heat map: rank {rank} step {step} is {value}, not {steps[(rank, step)]}")
    colours = browser.run("""
      const canvas = document.getElementById('heat');
      const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4 * 997) seen.add(data.slice(i, i + 4).join());
      return seen.size""")
    page.expect(colours > 2, f"the heat map has {colours} colours")
    box = browser.run("""const c = document.getElementById('heat'); c.scrollIntoView(); scrollBy(0, -150);
      const b = c.getBoundingClientRect(); const p = page.heats[''].place();
      return [b.left + p.left + p.cell / 2, b.top + p.top + p.rowHeight / 2]""")
    browser.point(box[0], box[1], click=True)
    seen = browser.place("timeline")
    page.expect(seen[1] == "timeline" and seen[0].startswith("#timeline&rank="), f"a click on the heat map leads to {seen}")


def check_timeline(page, browser):
    browser.run("location.hash = 'timeline'; page.follow(); document.getElementById('timeline-canvas').focus()")
    browser.press("0")
    start = browser.run("return page.timelines[''].view()")
    browser.press("w")
    inner = browser.run("return page.timelines[''].view()")
    page.expect(start["start"] < inner["start"] and inner["end"] < start["end"], f"W does not zoom in: {inner}")
    browser.press(["d"] * 30)
    moved = browser.run("return page.timelines[''].view()")
    page.expect(moved["end"] <= browser.run("return page.timelines[''].facts.end") and moved["start"] > inner["start"],
                f"D leaves the run or does not move: {moved}")
    browser.press("0")
    page.expect(browser.run("return page.timelines[''].view()") == start, "0 does not show all")
    # The longest slice of the first row is found where it is drawn.
    found = browser.run("""
      const t = page.timelines['']; const row = t.rows.findIndex((one) => one.start.length > 0);
      let best = 0; const one = t.rows[row];
      for (let i = 0; i < one.start.length; ++i) if (one.end[i] - one.start[i] > one.end[best] - one.start[best]) best = i;
      const x = (t.x(one.start[best]) + t.x(one.end[best])) / 2;
      const hit = t.findSlice(x, t.pixel(row) + (one.kind[best] >> 4) * t.facts.rows[row].line);
      return [hit.name, hit.length, t.facts.names[one.name[best]], one.end[best] - one.start[best]]""")
    page.expect(found[0] == found[2] and found[1] == found[3], f"the longest slice is not found: {found}")
    # The time below the pointer stays there.
    moved = browser.run("""
      const c = document.getElementById('timeline-canvas'); const t = page.timelines['']; const b = c.getBoundingClientRect();
      const px = b.left + t.left() + 300; const time = t.view().start + 300 / (t.width() - t.left()) * (t.view().end - t.view().start);
      c.dispatchEvent(new WheelEvent('wheel', {clientX: px, clientY: b.top + 40, deltaY: -100, cancelable: true}));
      return t.x(time) - (px - b.left)""")
    page.expect(abs(moved) < 1, f"the wheel moves the time below the pointer by {moved} pixels")
    times = browser.run("""
      const times = [];
      for (let i = 0; i < 20; ++i) {
        const begin = performance.now(); page.timelines[''].act(i % 2 ? 's' : 'w');
        times.push(performance.now() - begin);
      }
      return times.sort((a, b) => a - b)""")
    page.expect(times[18] < 400, f"a zoom step takes {times[18]:.0f} ms")
    return times


def check_gaps(page, browser):
    """Gaps have the causes of the account, which the legend and the panel name."""
    rows = {line["row"]: line["ns"] for line in page.json_of("bottleneck")["verdict"]["account"]}
    gaps = browser.run("""location.hash = 'timeline'; page.follow(); page.timelines[''].act('0');
      document.getElementById('timeline-canvas').scrollIntoView(); scrollBy(0, -150);
      return traceloom.gapsInView()""")
    page.expect(len(gaps) > 50, f"has {len(gaps)} gaps")
    page.expect({gap["cause"] for gap in gaps} <= {row for row, ns in rows.items() if ns > 0},
                f"gaps have causes that the account {rows} has not")
    widest = max(gaps, key=lambda gap: gap["end_ns"] - gap["start_ns"])
    legend = browser.run("return document.querySelector('#timeline .legend').textContent")
    page.expect(f"no work: {widest['cause']}" in legend, f"the legend has no {widest['cause']}: {legend}")
    browser.run(f"page.timelines[''].show({widest['start_ns']}, {widest['end_ns']})")
    box = browser.run(f"""return traceloom.gapsInView().find((gap) => gap.rank === {widest['rank']}
      && gap.start_ns === {widest['start_ns']}).box""")
    browser.point(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, click=True)
    panel = browser.run("return document.querySelector('#timeline .panel').textContent")
    page.expect(widest["cause"] in panel, f"a click on a gap of {widest['cause']} shows {panel!r}")


def write_steps(folder, steps, slow):
    """Two ranks with more steps than a heat map has columns; the second is longer in one of them."""
    folder.mkdir()
    for rank in range(2):
        events = []
        for i in range(steps):
            longer = 7 if rank == 1 and i == slow else 0
            events += [event(f"ProfilerStep#{i}", "user_annotation", 7, 100 * i, 80 + longer),
                       event("aten::mm", "cpu_op", 7, 100 * i + 5, 40 + longer)]
        (folder / f"rank{rank}.pt.trace.json").write_text(json.dumps(
            {"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": events}))
    return folder


def check_cells(page, browser, slow):
    """A click on a cell shows the step that the cell says, also where steps share a column, and Back the map again."""
    cells = browser.run("location.hash = 'overview'; page.follow(); return window.traceloom.cells().cells")
    cell = next((one for one in cells if one["ranks"] == [1] and one["steps"] == [slow]), None)
    page.expect(cell is not None, f"no cell is step {slow} of rank 1")
    if cell is None:
        return
    page.expect(cell["ns"] == max(one["ns"] for one in cells), f"step {slow} is not the longest: {cell['ns']} ns")
    browser.point(cell["box"]["x"] + cell["box"]["width"] / 2, cell["box"]["y"] + cell["box"]["height"] / 2, click=True)
    browser.place("timeline")
    seen = browser.run("""const view = window.traceloom.view();
      return [view.rank, view.step, window.traceloom.spansInView().filter((span) => span.rank === 1 && span.step === view.step)
        .map((span) => [span.name, span.end_ns - span.start_ns]), document.getElementById('timeline-status').textContent]""")
    page.expect(seen[:2] == [1, slow] and ["aten::mm", 47000] in seen[2], f"a click on its cell shows {seen}")
    page.expect(f"Step {slow}: " in seen[3] and "spans" in seen[3], f"what is left out is not said: {seen[3]}")
    page.expect(browser.run("return window.traceloom.ranksInFull()[0].rank") in (0, 1), "no rank in full")
    browser.run("page.goTo('#timeline&step=99999')")
    status = browser.run("return document.getElementById('timeline-status').textContent")
    page.expect("Step 99999 is none that counts, or the page has no room for it" in status, f"a step that is not there: {status}")
    browser.run("history.back()")
    browser.run("return new Promise((done) => setTimeout(done, 400))")
    page.expect(browser.run("return window.traceloom.view().step") == slow, "Back does not lead to the step before")


class Viewer(http.server.BaseHTTPRequestHandler):
    """Stands for ui.perfetto.dev: answers PING, and says what it was handed."""
    PAGE = b"""<!doctype html><script>addEventListener('message', (event) => {
      if (event.data === 'PING') event.source.postMessage('PONG', event.origin);
      else if (event.data.perfetto) fetch('/got', {method: 'POST', body: JSON.stringify({hash: location.hash,
        title: event.data.perfetto.title, text: new TextDecoder().decode(event.data.perfetto.buffer)})});
    });</script>"""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.PAGE)

    def do_POST(self):
        self.server.got = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def check_viewer(tool, folder, browser, failures):
    """The served page hands the merged trace to the viewer, at the time that is shown, from any port."""
    viewer = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Viewer)
    viewer.got = None
    threading.Thread(target=viewer.serve_forever, daemon=True).start()
    served = subprocess.Popen([tool, "report", folder, "--serve", "--once", "--port", "0"], stderr=subprocess.PIPE, text=True)
    try:
        link = next(line.split("the page: ")[1].strip() for line in served.stderr if "the page: " in line)
        browser.open(link + "#timeline&rank=0&step=1")
        browser.run(f"document.querySelector('#viewer button').dataset.viewer = 'http://127.0.0.1:{viewer.server_port}'")
        x, y = browser.run("""const button = document.querySelector('#viewer button'); button.scrollIntoView({block: 'center'});
          const box = button.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]""")
        browser.point(x, y, click=True)
        deadline = time.monotonic() + 30
        while viewer.got is None and time.monotonic() < deadline:
            time.sleep(.05)
        failures.expect(viewer.got is not None, "the viewer got nothing: " + browser.run("return document.getElementById('viewer').textContent"))
        if viewer.got is not None:
            names = {one["name"] for one in json.loads(viewer.got["text"])["traceEvents"]}
            failures.expect({"ProfilerStep#1", "aten::op1"} <= names, f"the viewer got {sorted(names)[:9]}")
            view = browser.run("return window.traceloom.view()")
            failures.expect(viewer.got["hash"] == f"#!/?visStart={round(view['start_ns'])}&visEnd={round(view['end_ns'])}",
                            f"the viewer opens at {viewer.got['hash']}, not at {view}")
            failures.expect(viewer.got["title"].startswith("Traceloom: "), f"its title is {viewer.got['title']}")
        failures.expect(served.wait(20) == 0, "it does not end when the viewer has the trace")
    finally:
        served.kill()
        served.wait()
        viewer.shutdown()
        viewer.server_close()


def check_flame(page, browser):
    browser.run("location.hash = 'code'; page.follow(); document.getElementById('flame').focus()")
    before = browser.run("return document.getElementById('flame').toDataURL()")
    browser.press([webdriver.KEYS["right"], webdriver.KEYS["right"], webdriver.KEYS["enter"]])
    after = browser.run("return document.getElementById('flame').toDataURL()")
    page.expect(before != after, "Enter does not zoom into the flame graph")
    sums = browser.run("""
      const nodes = page.treeNodes(document.querySelector('table.tree'));
      const sum = (list, time) => list.reduce((all, one) => all + one[time], 0);
      const turned = page.invertNodes(nodes);
      return [sum(nodes.filter((one) => one.depth === 0), 'host'), sum(nodes, 'hostSelf'), sum(turned, 'host'),
        turned.every((one) => sum(one.children, 'host') <= one.host)]""")
    page.expect(sums[0] == sums[1] == sums[2] > 0 and sums[3], f"the inverted flame graph has other times: {sums}")
    browser.run("""const input = document.querySelector('#code .tools input[type=search]'); input.value = 'aten::op1';
      input.dispatchEvent(new Event('input'))""")
    status = browser.run("return document.getElementById('flame-status').textContent")
    total = sum(row["host_total_ns"] for row in page.json_of("tree")["rows"] if row["name"] == "aten::op1")
    alone = browser.run("""page.goTo('#code&rank=3');
      const {ranks, names} = page.json('calls');
      const nodes = page.rankNodes(ranks.find((one) => one.rank === 3).rows, names);
      return [document.querySelector('#code .tools label:nth-of-type(2) select').value,
        nodes.map(({depth, name, host, device}) => [depth, name, host, device])]""")
    rows = page.json_of("tree", "--by", "all", "--min-share", "0.2%", "--rank", "3")["rows"]
    page.expect(alone == ["3", [[row[key] for key in ("depth", "name", "host_total_ns", "device_total_ns")] for row in rows]],
                f"rank 3 alone has other calls than tree --rank 3: {alone}")
    page.expect(status.startswith("1 calls of that name: ") and f"{total / 1e6:.3f} ms" in status, f"Find says {status}, not {total} ns")


def check_look(page, browser):
    """Dark and light, print, narrow and wide windows, and no script."""
    contrast = """
      const rgb = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number).map((c) => c / 255)
        .map((c) => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
      const light = (text) => { const [r, g, b] = rgb(text); return .2126 * r + .7152 * g + .0722 * b; };
      const body = getComputedStyle(document.body);
      return ['header h1', 'nav a', '.command', '.notes li, footer'].map((name) => {
        const element = document.querySelector(name);
        const style = getComputedStyle(element);
        const own = element.matches('[aria-current]') ? style.backgroundColor : body.backgroundColor;
        const [a, b] = [light(style.color), light(own)].sort((x, y) => y - x);
        return (a + .05) / (b + .05);
      })"""
    backgrounds = []
    for scheme in ("light", "dark"):
        browser.devtools("Emulation.setEmulatedMedia",
                         features=[{"name": "prefers-color-scheme", "value": scheme}])
        backgrounds.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
        values = browser.run(contrast)
        page.expect(min(values) >= 4.5, f"contrast in {scheme}: {values}")
    page.expect(backgrounds[0] != backgrounds[1], "dark and light look alike")
    browser.devtools("Emulation.setEmulatedMedia", media="print", features=[])
    shown = browser.run("return [...document.querySelectorAll('main > section')].filter((s) => s.offsetHeight > 0).length")
    page.expect(shown == len(SECTIONS), f"{shown} sections are printed")
    page.expect(browser.run("return document.querySelector('nav').offsetHeight") == 0, "prints the contents list")
    drawn = browser.run("""return ['heat', 'flame', 'timeline-canvas'].map((id) => {
      const canvas = document.getElementById(id);
      const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      return data.some((value) => value > 0);
    })""")
    page.expect(all(drawn), f"prints empty pictures: {drawn}")
    browser.devtools("Emulation.setEmulatedMedia", media="", features=[])
    browser.run("location.hash = '%'; page.follow()")
    page.expect(browser.run("return document.querySelectorAll('section.shown').length") == 1,
                "shows nothing for a link that is none")
    for width in (390, 2560):
        browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
        check_sections(page, browser)
    browser.devtools("Emulation.clearDeviceMetricsOverride")
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(page.url())
    text = browser.devtools("DOM.getDocument", depth=-1)
    browser.devtools("Emulation.setScriptExecutionDisabled", value=False)
    page.expect("Verdict" in json.dumps(text) and '"table"' in json.dumps(text).lower(), "is empty without scripts")
    browser.open(page.url())


def check_keyboard(page, browser):
    browser.run("location.hash = 'overview'; page.follow(); document.activeElement.blur(); scrollTo(0, 0)")
    seen = set()
    for _ in range(40):
        browser.press([webdriver.KEYS["tab"]])
        seen.add(browser.run("const e = document.activeElement; return e.id || e.tagName"))
    for wanted in ("BUTTON", "A", "heat-role", "heat"):
        page.expect(wanted in seen, f"Tab does not reach {wanted}: {sorted(seen)}")


def check_policy(page, browser):
    blocked = browser.run("""
      const seen = [];
      addEventListener('securitypolicyviolation', (event) => seen.push(event.violatedDirective));
      window.seenViolations = seen;
      const image = document.createElement('img'); image.src = 'http://127.0.0.1:9/x.png'; document.body.append(image);
      const script = document.createElement('script'); script.textContent = 'window.isOwned = true'; document.body.append(script);
      fetch('http://127.0.0.1:9/').catch(() => 0);
      return window.isOwned === undefined""")
    page.expect(blocked, "ran an inserted script")
    seen = browser.run("return new Promise((done) => setTimeout(() => done(window.seenViolations), 300))")
    page.expect(len(seen) == 3, f"the policy blocked {seen}")
    browser.console()
    browser.requests()
    browser.open(page.url())


def cpu_of(url):
    """Processor time of a Chromium that loads the page and ends."""
    folder = tempfile.mkdtemp()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["chromium", *webdriver.Browser.FLAGS, f"--user-data-dir={folder}", "--dump-dom", url],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    shutil.rmtree(folder, ignore_errors=True)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    tool, testdata = sys.argv[1], pathlib.Path(sys.argv[2])
    if not webdriver.is_installed():
        print("skipped: chromium and chromedriver are not installed (apt-get install chromium chromium-driver)")
        return 77
    failures = Failures()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="report-pages-"))
    try:
        usual = [f"gemm_{i}<float, {i}>(float const*, int)" for i in range(12)]
        write_run(folder / "gpu", 8, 6, 12, usual)
        write_run(folder / "attack", 2, 3, 12, ATTACKS)
        write_run(folder / "many", 1024, 12, 2, usual)
        write_steps(folder / "steps", 1000, 500)
        (folder / "empty.json").write_text('{"traceEvents":[]}')
        composer = [str(testdata / "demo" / "composer")]
        pages = {name: Page(tool, name, inputs, folder, failures) for name, inputs in {
            "composer": composer, "gpu": [str(folder / "gpu")], "attack": [str(folder / "attack")],
            "many": [str(folder / "many")], "steps": [str(folder / "steps")], "empty": [str(folder / "empty.json")]}.items()}
        figures = {}
        with webdriver.Browser() as browser:
            for name, page in pages.items():
                browser.requests()
                browser.open(page.url())
                page.expect(page.path.stat().st_size <= 2 << 20, f"has {page.path.stat().st_size} bytes")
                check_alone(page, browser)
                check_sections(page, browser)
                figures[name] = {"bytes": page.path.stat().st_size}
                if name == "empty":
                    continue
                if name == "steps":
                    check_cells(page, browser, "500")
                    continue
                figures[name]["numbers"] = check_numbers(page, browser)
                check_bars(page, browser)
                check_heat_map(page, browser)
                times = check_timeline(page, browser)
                figures[name]["zoom_ms"] = [round(times[10], 1), round(times[18], 1)]
                if name == "gpu":
                    check_gaps(page, browser)
                    check_table_use(page, browser)
                    check_flame(page, browser)
                    check_keyboard(page, browser)
                    check_look(page, browser)
                    check_policy(page, browser)
                check_alone(page, browser)
            check_viewer(tool, str(folder / "gpu"), browser, failures)
        page = pages["many"]
        extra = min(cpu_of(page.url()) for _ in range(2)) - min(cpu_of("about:blank") for _ in range(2))
        figures["many"]["cpu_s"] = round(extra, 2)
        page.expect(extra < 2, f"costs {extra:.2f} s of processor time more than a blank page")
        again = folder / "again.html"
        subprocess.run([tool, "report", str(folder / "gpu"), "-j", "1", "-o", again], check=True)
        failures.expect(again.read_bytes() == pages["gpu"].path.read_bytes(), "one thread gives other bytes")
        if "--figures" in sys.argv:
            print(json.dumps(figures, indent=1))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(failures.texts)} failures")
    return 1 if failures.texts else 0


if __name__ == "__main__":
    sys.exit(main())
