"""A page in headless Chromium, driven by the DevTools protocol over a pipe."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def find_chromium() -> str | None:
    """The Chromium of this machine, or None."""
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if (path := shutil.which(name)) is not None:
            return path
    return None


@contextmanager
def chromium(profile: Path, width: int = 1400, height: int = 900) -> Generator[Browser]:
    """A browser with its profile in a folder, which must not exist yet."""
    path = find_chromium()
    assert path is not None
    commands, answers = os.pipe(), os.pipe()

    def pass_pipes() -> None:
        # Chromium reads commands from 3 and writes answers to 4; the ends may be these numbers.
        reading, writing = os.dup(commands[0]), os.dup(answers[1])
        os.dup2(reading, 3)
        os.dup2(writing, 4)

    process = subprocess.Popen(
        [
            path,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
            f"--window-size={width},{height}",
            "about:blank",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=False,
        preexec_fn=pass_pipes,
    )
    os.close(commands[0])
    os.close(answers[1])
    try:
        with os.fdopen(commands[1], "wb", 0) as to, os.fdopen(answers[0], "rb", 0) as from_:
            browser = Browser(to, from_)
            yield browser
            browser.call("Browser.close")
    finally:
        process.terminate()
        process.wait(20)


class Browser:
    """One tab; what it requested and complained of is kept."""

    def __init__(self, to: Any, from_: Any) -> None:
        self._to, self._from = to, from_
        self._number, self._buffer = 0, b""
        self._session: str | None = None
        self.requests: list[str] = []
        self.complaints: list[str] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Json:
        """The result of a DevTools method; raises `RuntimeError` with what went wrong."""
        self._number += 1
        message: Json = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self._session
        self._to.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._event(answer)

    def _next(self) -> Json:
        while b"\0" not in self._buffer:
            part = self._from.read(1 << 16)
            if not part:
                raise RuntimeError("Chromium has ended")
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(text)

    def _event(self, event: Json) -> None:
        parameters = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(parameters["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning"):
                self.complaints.append(json.dumps(parameters["args"]))
            case "Log.entryAdded":
                self.complaints.append(parameters["entry"]["text"])
            case _:
                pass

    def open(self, page: Path) -> None:
        """Load a file and wait for its `load` event."""
        self.requests.clear()
        self.call("Page.navigate", url=page.absolute().as_uri())
        self.wait("document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        result = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def wait(self, condition: str) -> None:
        """Until an expression is true: at most a few thousand animation frames."""
        for _ in range(3000):
            if self.evaluate(f"Boolean({condition})"):
                return
            self.evaluate("new Promise((go) => setTimeout(go, 10))")
        raise RuntimeError(f"it does not become true: {condition}")

    def hover(self, selector: str) -> None:
        """Move the mouse onto the first element of a selector."""
        x, y = self._middle(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """Move the mouse there and click."""
        x, y = self._middle(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def _middle(self, selector: str) -> tuple[float, float]:
        place = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return"
            " null; e.scrollIntoView({block: 'center', inline: 'nearest'}); const r ="
            " e.getBoundingClientRect(); const right = Math.min(r.right, innerWidth);"
            " return [(Math.max(r.left, 0) + right) / 2, (r.top + r.bottom) / 2]; })()"
        )
        if place is None:
            raise RuntimeError(f"the page has no {selector}")
        return place[0], place[1]

    def press(self, key: str) -> None:
        """Press a key: one character, or a name such as `Enter`."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38}.get(key, 0)
        self.call(
            "Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code
        )
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        """Type characters into what has the focus."""
        self.call("Input.insertText", text=text)

    def show_as(self, width: int, height: int, *, dark: bool = False) -> None:
        """Another size of the window, and the colours of the system."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path: Path) -> None:
        """What the window shows, as a PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
