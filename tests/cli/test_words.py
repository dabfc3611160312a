"""What the command line says when a word is not known, missing, or belongs elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from nebel.cli import VERBS, main
from nebel.core.errors import BadSetting
from nebel.core.settings import Settings, setting
from nebel.core.suggest import close_to
from nebel.learn.workers import MOST_A_CORE, hire

KUHN = ["--game", "kuhn"]
SUGGESTED = [
    (["slove"], "no verb 'slove' (did you mean solve"),
    (["Solve"], "no verb 'Solve' (did you mean solve?)"),
    (["help", "lern"], "no verb 'lern' (did you mean learn"),
    (["solve", "leduc", "--itterations", "10"], "--itterations is not an option of nebel solve (did you mean --iterations?)"),
    (["solve", "leduc", "--iteration", "10"], "--iteration is not an option of nebel solve (did you mean --iterations?)"),
    (["solve", "leduc", "--checkpoint_every=10"], "(did you mean --checkpoint-every?)"),
    (["match", "random", "uniform", *KUHN, "--gmaes", "10"], "--gmaes is not an option of nebel match (did you mean --games"),
    (["serve", "--prot", "1"], "--prot is not an option of nebel serve (did you mean --port or"),
    (["solve", "LEDUC"], "no game 'LEDUC' (did you mean leduc?); games: kuhn, leduc"),
    (["solve", "kuhn_poker"], "no game 'kuhn_poker' (did you mean kuhn?)"),
    (["games", "dark-hex"], "(did you mean dark_hex?)"),
    (["games", "dark_hex(row=3)"], "dark_hex has no option 'row' (did you mean rows?)"),
    (["games", "leduc", "--recall", "Perfect"], "leduc has no recall 'Perfect' (did you mean perfect?)"),
    (["solve", "leduc", "--with", "CFR+"], "no method 'CFR+' (did you mean cfr+?)"),
    (["solve", "leduc", "--with", "cfrplus"], "no method 'cfrplus' (did you mean cfr+?)"),
    (["solve", "leduc", "--with", "outcome-sampling", "--weights", "liner"], "(did you mean linear?)"),
    (["judge", "uniform", *KUHN, "--by", "learnt"], "'learnt' is not one of: exact, abstract, learned, thesis (did you mean learned?)"),
    (["learn", "leduc", "--with", "dream", "--preset", "ledoc"], "dream has no preset 'ledoc' (did you mean leduc?)"),
    (["match", "unifrom", "random", *KUHN], "no agent 'unifrom' (did you mean uniform?)"),
    (["match", "purpel:4", "random", "--game", "geister"], "no agent 'purpel:4' (did you mean purple?)"),
    (["match", "bot:purpel", "random", "--game", "geister"], "geister has no bot 'purpel' (did you mean purple?)"),
    (["match", "oos:1k,epsilom=1", "random", *KUHN], "(did you mean epsilon?)"),
    (["judge", "shipped:board_4x3"], "no policy 'shipped:board_4x3' (did you mean board-4x3?)"),
    (["strategy", "S1"], "(did you mean s1?)"),
    (["learn", "kuhn", "--with", "vr-deep-dcfr"], "no method 'vr-deep-dcfr' (did you mean vr-deep-dcfr+ or"),
    (["paper", "dark-hex"], "no paper 'dark-hex' (did you mean dark_hex?)"),
    (["paper", "dark_hex", "--only", "sure_wins"], "dark_hex has no section 'sure_wins' (did you mean sure-wins?)"),
]
EXPLAINED = [
    (["solve", "kuhn", "--with", "cfr+", "--epsilon", "0.5"], "--epsilon is a setting of outcome-sampling, not of cfr+"),
    (["solve", "kuhn", "--with=maximin", "--threads=2"], "and others, not of maximin"),
    (["solve", "kuhn", "--no-baseline"], "--no-baseline is a setting of external-sampling, outcome-sampling; add --with external-sampling"),
    (["learn", "kuhn", "--with", "nfsp", "--traversals", "3"], "--traversals is a setting of deep-cfr, dream, vr-deep-dcfr+, not of nfsp"),
    (["judge", "uniform", *KUHN, "--seeds", "1"], "--seeds is a setting of --by learned; add --by learned"),
    (["judge", "uniform", *KUHN, "--by", "exact", "--seeds", "1"], "--seeds is a setting of --by learned, not of --by exact"),
    (["check", "kuhn", "leduc"], "'leduc' is one argument too many"),
    (["check"], "nebel check needs GAME, a game string, or path/to/file.py:factory"),
    (["show"], "nebel show needs FILE, a policy file (see"),
    (["build", "dark_hex:2x2"], "nebel build needs --out, the policy"),
    (["match"], "write for example nebel match"),
    (["-v"], "-v is not an option of nebel"),
    (["check", " "], "which game? Give a name, such as leduc"),
    (["judge", "."], ". is a folder; give the name of a file"),
    (["verify", "/dev/zero"], "/dev/zero is a device or pipe; give the name of a file"),
    (["geister-replay", "missing"], "nebel: no file missing"),
    (["geister-puzzles", "--count", "0"], "--count 0 is out of range: it must be at least 1"),
    (["judge", "oos:1k"], "oos:1k fits any game; say which with --game"),
    (["judge", "uniform", *KUHN, "--patience", "0"], "--patience 0 is out of range: it must be at least 1"),
    (["judge", "uniform", *KUHN, "--by", "learned", "--patience", "9"], "--patience is for policies that are judged exactly, by the"),
    (["judge", "oos:1k", *KUHN, "--patience", "9"], "--patience is for policies that are judged exactly, by the"),
    (["serve", "--host", "a..b"], "cannot listen at a..b:8765: that is not the name of a host; try"),
    (["match", "oos", "random", *KUHN], "oos needs a budget: oos:1k or oos:1s"),
    (["match", "missing.nebel+oos", "random", *KUHN], "missing.nebel+oos needs a budget: missing.nebel+oos:1k or missing.nebel+oos:1s"),
    (["match", "ismcts", "random", *KUHN], "ismcts needs a budget: ismcts:1k or ismcts:1s"),
    (["match", "purple+proof", "random", "--game", "geister"], "needs a number of plies: purple+proof:7"),
    (["match", "purple:2", "random", "--game", "leduc"], "leduc has no bot 'purple', which is a bot of geister; it has no bots"),
    (["match", "heuristic:4", "random", "--game", "cheat:3"], "so it has neither depth nor time; write heuristic"),
    (["check", "kuhn:3"], "kuhn has no short form; write kuhn, which has no options"),
    (["check", "leduc:3"], "leduc has no short form; write leduc(suits=VALUE)"),
    (["learn", "kuhn", "--workers", "5000"], "--workers 5000 is too many: this machine has"),
    (["solve", "kuhn", "--iterations", "1e30"], "1e30 is out of range: it must be at most 1e+15"),
    (["match", "oos:1e30", "random", *KUHN], "oos:1e30: 1e30 is out of range: it must be at most 1e+15"),
    (["match", "ismcts:1k,room=1e30", "random", *KUHN], "room: 1e30 is out of range"),
    (["match", "random", "uniform", *KUHN, "--games", "1e15"], "out of memory; give less --games, or take a smaller game\n"),
    (["solve", "kuhn", "--memory", "inf"], "--memory: inf is not a finite number"),
    (["solve", "kuhn", "--checkpoint-every", "nan"], "--checkpoint-every: nan is not a finite number"),
    (["solve", "kuhn", "--seconds", "soon"], "--seconds: 'soon' is not a number"),
    (["solve", "kuhn", "--seed", "1.5"], "--seed: '1.5' is not a whole number"),
]


@pytest.mark.parametrize(("words", "said"), SUGGESTED + EXPLAINED, ids=lambda x: " ".join(x)[:40] if isinstance(x, list) else "")
def test_one_line_says_what_would_be_right(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_nothing_is_suggested_where_nothing_is_close(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["xyz"], ["solve", "xyz"], ["solve", "kuhn", "--xyz"], ["match", "xyz", "random", *KUHN]):
        assert main(words) == 2
        assert "did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "known", "close"),
    [
        ("pdcfr_plus", ["cfr", "pdcfr+", "dcfr"], "pdcfr+"),
        ("Outcome_Sampling", ["external-sampling", "outcome-sampling"], "outcome-sampling"),
        ("liars", ["kuhn", "liars_dice"], "liars_dice"),
    ],
)
def test_spelling_that_does_not_count(word: str, known: list[str], close: str) -> None:
    assert close_to(word, known)[0] == close


def test_large_seeds_stay_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    for seed in ("-1", "99999999999999999999", "1e5"):
        assert main(["match", "random", "uniform", *KUHN, "--games", "2", "--seed", seed, "--json"]) == 0
        assert f'"seed": {int(float(seed)) if "e" in seed else seed},' in capsys.readouterr().out


@dataclass(frozen=True)
class Sized(Settings):
    size: float = setting(1.0, "the size", low=0.0)


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_settings_are_finite(value: float) -> None:
    with pytest.raises(BadSetting, match=f"--size {value} is out of range: it must be"):
        Sized(value)


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    def printed(*words: str) -> str:
        with pytest.raises(SystemExit) as end:
            main([*words])
        assert end.value.code == 0
        return capsys.readouterr().out

    assert printed("-V") == printed("--version")
    overview = printed()
    assert overview == printed("help") == printed("--help") == printed("-h")
    assert all(f"\n  {verb} " in overview for verb in VERBS)
    assert printed("help", "solve") == printed("solve", "--help")
    assert "--epsilon" in printed("help", "solve", "--with", "outcome-sampling")


def test_workers_for_each_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    crew = hire(str(MOST_A_CORE))  # starts no process before there is work
    assert crew.count == 4
    crew.close()
    for text in ("5", "ray:5"):
        with pytest.raises(BadSetting, match=f"--workers {text} is too many: this machine has 1 core, so give at most 4"):
            hire(text)


def test_a_game_says_what_can_be_typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = iter(["help", "?", "fold", "pas", "quit"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    assert main(["play", "kuhn"]) == 0
    printed = capsys.readouterr().out
    assert "Type a move, or: undo, legal, help, quit." in printed
    assert printed.count("undo      take back your last move") == 2
    assert "fold is not legal here\n" in printed
    assert "pas is not legal here (did you mean pass?)\n" in printed


def without_torch(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    script = "import sys; sys.modules['torch'] = None; from nebel.cli import main; sys.exit(main(sys.argv[1:]))"
    return subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=False, cwd=tmp_path)


def test_help_needs_no_torch(tmp_path: Path) -> None:
    done = without_torch(tmp_path, "learn", "--with", "nfsp", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "settings of nfsp" in done.stdout
    done = without_torch(tmp_path, "learn", "kuhn", "--run", "folder", "--iterations", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "nebel: learning takes torch; install it with: pip install 'torch>=2.13,<2.14'\n"
    assert not list(tmp_path.iterdir())
