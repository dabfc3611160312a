"""A server in a process of its own, an app in this one, and a browser."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from nebel.web.serving import listen, serve
from nebel.web.setup import Setup

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


class Serving:
    """`nebel serve` as people start it."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.runs = folder
        command = [sys.executable, "-m", "nebel", "serve", "--port", "0", "--runs", str(folder), *flags]
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored, and would be by the server
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(os.environ))
        signal.signal(signal.SIGINT, before)
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline().strip()
        self.url = self.said.removeprefix("Open the page: ")
        assert self.url.startswith("http://"), self.said

    def stop(self, how: int = signal.SIGINT) -> int:
        """Send a signal, wait for the end; its exit code."""
        self.process.send_signal(how)
        code = self.process.wait(timeout=20)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    serving = Serving(tmp_path_factory.mktemp("runs"))
    yield serving
    serving.stop()


class Local:
    """A server in a thread of this process, for speed: HTTP by `get` and `post`, sockets by `live`."""

    def __init__(self, setup: Setup) -> None:
        listening = listen(setup.host, 0)
        self.port: int = listening.getsockname()[1]
        self.setup = dataclasses.replace(setup, port=self.port)
        self._server = serve(self.setup)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listening]})
        self._thread.start()
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=60)
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.01)

    def get(self, path: str, **query: Any) -> httpx.Response:
        return self.http.get(path, params=query)

    def post(self, path: str, body: Any, **query: Any) -> httpx.Response:
        return self.http.post(path, json=body, params=query)

    def begin(self, game: str, *players: str, **more: Any) -> dict[str, Any]:
        answer = self.post("/api/play", {"game": game, "players": players, **more})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def live(self, id: str, key: str, **options: Any) -> ClientConnection:
        return connect(f"ws://127.0.0.1:{self.port}/api/play/{id}/live?key={key}", **options)

    def stop(self) -> None:
        self.http.close()
        self._server.should_exit = True
        self._thread.join(20)


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    serving = Local(Setup(runs=tmp_path))
    yield serving
    serving.stop()


def run_in(folder: Path, rows: list[dict[str, float]], **facts: Any) -> None:
    """A run on disk with these metrics."""
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"game": "leduc", "method": "cfr+", "seed": 1, **facts}))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium, then the page is tested in it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, server: Serving) -> Iterator[Any]:
    """A page at the server's address; whatever it complains about in the console fails the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 850}, base_url=server.url)
    context.set_default_timeout(10_000)
    wrong: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url) if not request.url.startswith((server.url, "blob:")) else None)
    yield page
    context.close()
    assert not wrong
