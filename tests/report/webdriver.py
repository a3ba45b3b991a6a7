"""A WebDriver client for headless Chromium, of Python's standard library alone.

    with Browser() as browser:
        browser.open("file:///tmp/report.html")
        browser.run("return document.title")

chromedriver listens on 127.0.0.1 only and ends with the `with` block.
"""
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request


def is_installed():
    return bool(shutil.which("chromium") and shutil.which("chromedriver"))


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Browser:
    # The sandbox does not start as root in a container; the rest keeps Chromium from looking for
    # updates, so that every request in its log is the page's.
    FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-dev-shm-usage", "--hide-scrollbars"]

    def __init__(self, width=1280, height=900):
        self.folder = tempfile.mkdtemp(prefix="report-test-")
        self.port = free_port()
        self.driver = subprocess.Popen(
            [shutil.which("chromedriver"), f"--port={self.port}"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        self.wait_for_driver()
        flags = self.FLAGS + [f"--user-data-dir={self.folder}", f"--window-size={width},{height}"]
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {"args": flags},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}}, session=False)
        self.session = answer["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(10)
            shutil.rmtree(self.folder, ignore_errors=True)

    def wait_for_driver(self):
        for _ in range(200):
            try:
                if self.call("GET", "/status", session=False)["ready"]:
                    return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("chromedriver did not start within 10 s")

    def call(self, method, path, body=None, session=True):
        url = f"http://127.0.0.1:{self.port}" + (f"/session/{self.session}" if session else "") + path
        data = json.dumps(body if body is not None else {}).encode() if method == "POST" else None
        request = urllib.request.Request(url, data=data, method=method,
                                         headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def place(self, section):
        """Returns the address and the section that is shown, once it is this one. A page follows its address only when
        its event arrives, which a click does not wait for."""
        deadline = time.monotonic() + 30
        while True:
            seen = self.run("return [location.hash, document.querySelector('section.shown').id]")
            if seen[1] == section or time.monotonic() > deadline:
                return seen
            time.sleep(0.02)

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def press(self, keys):
        """Presses keys one after the other; see KEYS for those without a character."""
        actions = []
        for key in keys:
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def point(self, x, y, click=False):
        actions = [{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def console(self):
        return self.call("POST", "/se/log", {"type": "browser"})

    def requests(self):
        """The addresses that the page asked for since the last call."""
        urls = []
        for entry in self.call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        return urls


KEYS = {"tab": "\ue004", "enter": "\ue007", "escape": "\ue00c", "left": "\ue012", "up": "\ue013",
        "right": "\ue014", "down": "\ue015"}
