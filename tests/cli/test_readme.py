"""Every command that the README prints runs as printed, and its Python gives what it shows."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", README, re.S) for line in block.splitlines() if line.strip()]


def test_commands_run_as_printed(tmp_path: Path) -> None:
    if shutil.which("nebel", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("nebel is not installed beside this Python")
    pytest.importorskip("pyspiel")
    assert len(COMMANDS) > 10
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command in COMMANDS:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, input="call\n" * 9, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert done.stdout, command


def test_python_gives_what_it_shows() -> None:
    failures, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert tried > 5
    assert failures == 0


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
