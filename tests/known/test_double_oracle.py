"""Double oracle, certificates and their checker: values that are known, and every figure found a second way."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nebel.core.errors import BadFile, BadSetting
from nebel.core.game import BaseGame
from nebel.core.registry import load
from nebel.judge.certificate import read_certificate, verify, write_certificate
from nebel.judge.exact import judge
from nebel.judge.verify import Board, Unproven, guarantee
from nebel.solve import Budget, Job, solve
from nebel.solve.double_oracle import DoubleOracle
from nebel.solve.matrix_game import equilibrium, exact, first_basis
from nebel.solve.settings import DoubleOracleSettings

VALUES = {  # Black's winning probability; the abrupt ones agree with linear programmes over the sequence form to 1e-9
    "dark_hex(rows=2,cols=2)": "1",
    "dark_hex(rows=2,cols=3,leak=flash)": "1",
    "dark_hex(rows=3,cols=2)": "0",
    "dark_hex(rows=3,cols=2,leak=noisy)": "0",
    "dark_hex(rows=2,cols=2,abrupt=true)": "3/4",
    "dark_hex(rows=3,cols=2,abrupt=true)": "7/16",
    "dark_hex(rows=3,cols=2,abrupt=true,leak=noisy)": "14225/31144",
    "dark_hex(rows=3,cols=2,abrupt=true,leak=flash)": "135/296",
}


def solved(game: BaseGame, iterations: int = 1000, **settings: Any) -> DoubleOracle:
    oracle = DoubleOracle(game, DoubleOracleSettings(**settings), seed=1)
    oracle.prepare()
    while oracle.gap > 1e-9 and oracle.iterations < iterations:
        oracle.run(1)
    return oracle


@pytest.mark.parametrize("name", VALUES)
def test_value_certificate_and_policy(name: str) -> None:
    """The bounds meet at the value, the checker agrees in fractions, and on the game's tree nothing can be won against the policy."""
    game = load(name)
    oracle = solved(game)
    certificate = oracle.certificate()
    assert certificate.value == Fraction(VALUES[name])
    judged = judge(game, oracle.policy({}))
    assert judged.means == "tree"
    assert judged.verdict.exploitability < 1e-9
    assert judged.verdict.value == pytest.approx(2 * float(Fraction(VALUES[name])) - 1, abs=1e-9)


@pytest.mark.parametrize("leak", ["silent", "noisy", "flash"])
@pytest.mark.parametrize("abrupt", [False, True])
def test_bounds_are_those_of_the_tree(abrupt: bool, leak: str) -> None:
    """Half-way, the guarantees found by worlds are what best responses on the tree say of the same mixtures."""
    game = load(f"dark_hex(rows=3,cols=2,abrupt={abrupt},leak={leak})")
    oracle = DoubleOracle(game, DoubleOracleSettings(start=3), seed=5)
    oracle.prepare()
    oracle.run(4)
    verdict = judge(game, oracle.policy({})).verdict
    assert verdict.best_response[0] == pytest.approx(1 - 2 * oracle.guarantee[1], abs=1e-9)
    assert verdict.best_response[1] == pytest.approx(1 - 2 * oracle.guarantee[0], abs=1e-9)


def test_4x3_is_solved() -> None:
    oracle = solved(load("dark_hex:4x3"))
    assert oracle.gap < 1e-9
    assert oracle.certificate().value == Fraction(14279, 67484)


def test_one_thread_or_two_or_interrupted(tmp_path: Path) -> None:
    job = Job("dark_hex(rows=3,cols=2,abrupt=true,leak=flash)", "double-oracle", settings={"threads": 1})
    whole = solve(job, Budget(iterations=30))
    solve(Job(job.game, job.method), Budget(iterations=13), tmp_path / "run")
    parted = solve(job, Budget(iterations=30), tmp_path / "run", resume=True)
    assert whole.certificate == parted.certificate
    assert verify(tmp_path / "run" / "certificate.json") == parted.certificate


def test_refusals() -> None:
    with pytest.raises(BadSetting, match="Dark Hex"):
        solve(Job("leduc", "double-oracle"))
    with pytest.raises(BadSetting, match="remember everything"):
        solve(Job("dark_hex:3x2", "double-oracle", "board"))


class TestChecker:
    @pytest.fixture(scope="class")
    def file(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        path = tmp_path_factory.mktemp("certificate") / "small.json"
        write_certificate(solved(load("dark_hex(rows=3,cols=2,abrupt=true)")).certificate(), path)
        return path

    def changed(self, file: Path, tmp_path: Path, change: Any) -> Path:
        data = json.loads(file.read_text())
        change(data)
        path = tmp_path / "changed.json"
        path.write_text(json.dumps(data))
        return path

    def test_holds(self, file: Path) -> None:
        assert verify(file).value == Fraction(7, 16)
        assert read_certificate(file) == verify(file)

    @pytest.mark.parametrize("ending", [".gz", ".xz"])
    def test_packed(self, file: Path, tmp_path: Path, ending: str) -> None:
        packed = tmp_path / f"small.json{ending}"
        write_certificate(read_certificate(file), packed)
        assert packed.stat().st_size < file.stat().st_size
        assert verify(packed) == verify(file)
        packed.write_bytes(file.read_bytes())
        with pytest.raises(BadFile, match="not a certificate"):
            verify(packed)

    def test_a_larger_claim_is_refused(self, file: Path, tmp_path: Path) -> None:
        bold = self.changed(file, tmp_path, lambda data: data["white"].update(guarantee="9/15"))
        with pytest.raises(BadFile, match="white guarantees 3/5; the checker finds only 9/16"):
            verify(bold)

    def test_a_smaller_claim_holds(self, file: Path, tmp_path: Path) -> None:
        assert verify(self.changed(file, tmp_path, lambda data: data["black"].update(guarantee="1/4"))).value == Fraction(7, 16)

    def test_a_changed_move_shows(self, file: Path, tmp_path: Path) -> None:
        def spoil(data: Any) -> None:
            first = data["black"]["strategies"][0]
            first[1] = ("a" if first[1][0] != "a" else "b") + first[1][1:]

        with pytest.raises(BadFile, match="finds only"):
            verify(self.changed(file, tmp_path, spoil))

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda data: data["black"]["strategies"][0].__setitem__(0, "1/3"), "sum to"),
            (lambda data: data["black"]["strategies"][0].__setitem__(0, "one"), "damaged"),
            (lambda data: data["black"]["strategies"][0].__setitem__(1, "a+"), "is not a cell"),
            (lambda data: data["black"]["strategies"][0].__setitem__(1, "a;;"), "after its end"),
            (lambda data: data["black"]["strategies"][0].__setitem__(1, "a?"), r"instead of \+, -"),
            (lambda data: data.pop("white"), "'white' is missing"),
            (lambda data: data.update(rows=-1), "not possible"),
            (lambda data: data.update(leak="loud"), "not silent, noisy or flash"),
            (lambda data: data.update(kind="letter"), "not a certificate"),
        ],
    )
    def test_malformed(self, file: Path, tmp_path: Path, change: Any, words: str) -> None:
        with pytest.raises(BadFile, match=words):
            verify(self.changed(file, tmp_path, change))

    def test_a_strategy_without_an_answer_loses_there(self) -> None:
        """On 1x1 Black wins with the only move; a strategy that makes none wins nothing."""
        board = Board(1, 1, False, "silent")
        assert guarantee(board, 0, [(Fraction(1), "a;")]) == 1
        assert guarantee(board, 0, [(Fraction(1, 3), "a;"), (Fraction(2, 3), ".;")]) == Fraction(1, 3)
        with pytest.raises(Unproven, match="sum to 1/3"):
            guarantee(board, 0, [(Fraction(1, 3), "a;")])


def test_matrix_games() -> None:
    """Rock, paper, scissors, grown row by row; and one with a value that is no decimal."""
    payoffs = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], np.float64)
    basis = first_basis()
    for size in range(1, 4):
        found, basis = equilibrium(payoffs[:size, :size], basis)
    assert found.value == pytest.approx(0, abs=1e-12)
    assert found.rows == pytest.approx([1 / 3] * 3)
    value, rows, cols = exact(payoffs.astype(np.int64), basis) or (None, [], [])
    assert (value, rows, cols) == (0, [Fraction(1, 3)] * 3, [Fraction(1, 3)] * 3)
    uneven = np.array([[3, -1], [-2, 1]], np.float64)
    _, basis = equilibrium(uneven, first_basis())
    assert exact(uneven.astype(np.int64), basis) == (Fraction(1, 7), [Fraction(3, 7), Fraction(4, 7)], [Fraction(2, 7), Fraction(5, 7)])
