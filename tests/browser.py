"""Chromium as a test drives it: pages are opened, keys pressed, and what the page asks for or complains of is kept."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = Path(os.environ.get("VERICITE_AXE", Path(__file__).parents[1] / "node_modules/axe-core/axe.min.js"))
needs_axe = pytest.mark.skipif(
    not AXE.exists(), reason="axe-core is not here: npm install --no-save axe-core, or VERICITE_AXE=axe.min.js"
)
_KEYS = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


class Browser:
    """A browser with one page, over Chromium's own pipe: no port is opened, no package needed."""

    def __init__(self, folder: Path, patience: float = 60) -> None:
        assert CHROMIUM is not None
        (their_in, ours_out), (ours_in, their_out) = os.pipe(), os.pipe()
        command = [
            CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", f"--user-data-dir={folder / 'profile'}", "--remote-debugging-pipe",
        ]  # fmt: skip
        shell = ["bash", "-c", f'exec "$@" 3<&{their_in} 4>&{their_out}', "bash", *command, "about:blank"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(shell, pass_fds=(their_in, their_out), **quiet)
        os.close(their_in)
        os.close(their_out)
        self._in, self._out, self._patience = ours_in, ours_out, patience
        self._read, self._number, self._session = b"", 0, None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.folder = folder
        self._open(folder)

    def tab(self) -> str | None:
        """Open another page and turn to it; gives what ``turn`` takes to come back."""
        before, self._session = self._session, None
        self._open(self.folder)
        return before

    def turn(self, tab: str | None) -> str | None:
        """Turn to another page; gives the one that was left."""
        before, self._session = self._session, tab
        return before

    def _open(self, folder: Path) -> None:
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder), eventsEnabled=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)
        os.close(self._in)
        os.close(self._out)

    def ask(self, method: str, **values: object) -> dict[str, Any]:
        """A command of the DevTools protocol, and its result."""
        self._number += 1
        sent: dict[str, Any] = {"id": self._number, "method": method, "params": values}
        if self._session and not method.startswith(("Target", "Browser")):
            sent["sessionId"] = self._session
        os.write(self._out, json.dumps(sent).encode() + b"\0")
        while True:
            got = self._next()
            if got.get("id") == self._number:
                assert "error" not in got, got
                return got["result"]
            self._note(got)

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + self._patience
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._in], [], [], max(end - time.monotonic(), 0))
            assert ready, "Chromium does not answer"
            self._read += os.read(self._in, 1 << 20)
        message, _, self._read = self._read.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        method, values = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.complaints.append(values["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning"):
            self.complaints.append(str(values["args"]))

    def go(self, address: str) -> None:
        """Open a page, and wait until its script has run."""
        self.ask("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        got = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in got, got["exceptionDetails"]
        return got["result"].get("value")

    def wait(self, script: str) -> None:
        """Until an expression is true."""
        end = time.monotonic() + self._patience
        while not self.run(script):
            assert time.monotonic() < end, f"waited in vain for {script}"
            time.sleep(0.02)

    def wait_for(self, file: Path) -> None:
        """Until a file was saved."""
        end = time.monotonic() + self._patience
        while not file.exists():
            assert time.monotonic() < end, f"waited in vain for {file}"
            self.run("0")
            time.sleep(0.05)

    def violations(self) -> list[tuple[str, str, str]]:
        """What axe-core finds in the page: impact, rule, element. A test that asks is marked `needs_axe`."""
        self.run(AXE.read_text(encoding="utf-8") + "; 0")
        found = self.run(
            "axe.run().then((r) => r.violations.map((v) => [v.impact, v.id, v.nodes[0].html.slice(0, 200)]))"
        )
        return [(impact, rule, html) for impact, rule, html in found]

    def keys(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            code = _KEYS.get(key) or ord(key.upper()[0])
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            held: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": code}
            self.ask("Input.dispatchKeyEvent", type="keyDown", **held, **({"text": text} if text else {}))
            self.ask("Input.dispatchKeyEvent", type="keyUp", **held)

    def choose(self, selector: str, *files: Path) -> None:
        """Choose files in a field for them."""
        root = self.ask("DOM.getDocument")["root"]["nodeId"]
        node = self.ask("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.ask("DOM.setFileInputFiles", nodeId=node, files=[str(file) for file in files])

    def look(self, path: Path, dark: bool = False, width: int = 1280, height: int = 900) -> None:
        """A picture of what is in sight."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.ask("Emulation.setEmulatedMedia", features=scheme)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))
