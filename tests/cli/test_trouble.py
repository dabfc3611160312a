"""What befalls a run that learns: killed, out of memory, a full disk. The last checkpoint stays, and one line says what is wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from nebel.cli import main
from nebel.core.errors import LostWorker
from nebel.learn.nfsp import Nfsp
from nebel.learn.workers import hire

LEARN = ["learn", "kuhn", "--with", "nfsp", "--boards", "32", "--plies", "8", "--hidden", "16", "--checkpoint-every", "0.001"]
CLOCKS = ("seconds", "nodes_per_second", "sampling_share")


def metrics(folder: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in row.items() if name not in CLOCKS} for row in rows]


def test_a_killed_run_goes_on_to_the_same_metrics(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert main([*LEARN, "--iterations", "40", "--run", str(whole)]) == 0
    started = [sys.executable, "-m", "nebel", *LEARN, "--iterations", "100000", "--run", str(cut)]
    with subprocess.Popen(started, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not ((cut / "metrics.jsonl").exists() and len(metrics_so_far(cut)) >= 8):
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
    done = len(metrics_so_far(cut))
    assert done >= 8
    assert main(["learn", "--resume", str(cut), "--iterations", str(max(40, done + 5))]) == 0
    assert metrics(cut)[:40] == metrics(whole)


def metrics_so_far(folder: Path) -> list[str]:
    return (folder / "metrics.jsonl").read_text().splitlines()


TROUBLE = [
    (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"), "out of memory"),
    (MemoryError(), "out of memory"),
    (OSError(28, "No space left on device", "checkpoint"), "No space left on device"),
]


@pytest.mark.parametrize(("trouble", "said"), TROUBLE, ids=["torch", "memory", "disk"])
def test_trouble_is_one_line_and_harms_no_checkpoint(
    trouble: Exception, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert main([*LEARN, "--iterations", "3", "--run", str(folder)]) == 0
    before = (folder / "checkpoint" / "state.safetensors").read_bytes()
    capsys.readouterr()

    def fail(self: Nfsp) -> None:
        raise trouble

    monkeypatch.setattr(Nfsp, "iterate", fail)
    assert main(["learn", "--resume", str(folder), "--iterations", "6"]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told
    assert (folder / "checkpoint" / "state.safetensors").read_bytes() == before


def test_a_worker_that_ends_is_a_clear_error() -> None:
    crew = hire("2")
    with pytest.raises(LostWorker, match="--resume goes on"):
        crew.map(os._exit, [9, 9])
    crew.close()


def test_a_run_of_another_version_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main([*LEARN, "--iterations", "2", "--run", str(tmp_path / "run")]) == 0
    monkeypatch.setattr(Nfsp, "restore", lambda self, arrays, iterations: arrays["what.came.later"])
    assert main(["learn", "--resume", str(tmp_path / "run"), "--iterations", "4"]) == 2
    assert "is damaged, or of another version: 'what.came.later' is not there; start a new run" in capsys.readouterr().err


def test_other_errors_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Nfsp) -> None:
        raise RuntimeError("shapes do not agree")

    monkeypatch.setattr(Nfsp, "iterate", fail)
    with pytest.raises(RuntimeError, match="shapes"):
        main([*LEARN, "--iterations", "3"])


def test_learning_without_torch_says_how_to_install_it() -> None:
    script = "import sys; sys.modules['torch'] = None; from nebel.cli import main; sys.exit(main(['learn', 'kuhn', '--with', 'dream']))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("nebel: learning takes torch; install it with")
