"""Policies from outside: tables of information states by name, with what is wrong with them said in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.bridge.openspiel_policy import policy_from_openspiel
from nebel.cli import main
from nebel.core.errors import BadFile, BadPolicy, Problem, UnknownInformationState
from nebel.core.tree import grow
from nebel.judge.exact import judge
from nebel.policy.from_rows import policy_from_rows
from nebel.policy.io import load_table
from nebel.policy.row_files import read_rows
from nebel.policy.table import TablePolicy

HEAD = "player,state,move,share\n"


def command(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    assert main([*map(str, words), "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def same(one: TablePolicy, two: TablePolicy) -> bool:
    columns = [(a, b) for p in range(2) for a, b in zip(one.shares[p], two.shares[p], strict=True)]
    return (one.game, one.recall, one.missing) == (two.game, two.recall, two.missing) and all(np.array_equal(a, b) for a, b in columns)


def exported(capsys: pytest.CaptureFixture[str], policy: Path, table: Path) -> Path:
    assert main(["show", str(policy), "--csv"]) == 0
    table.write_text(capsys.readouterr().out)
    return table


@pytest.fixture
def solved(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> tuple[Path, Path]:
    """Kuhn poker solved, and the table of it."""
    policy = tmp_path / "kuhn.nebel"
    command(capsys, "solve", "kuhn", "--with", "cfr+", "--iterations", 50, "--out", policy)
    return policy, exported(capsys, policy, tmp_path / "kuhn.csv")


@pytest.mark.parametrize(
    ("game", "recall"),
    [("kuhn", "perfect"), ("leduc", "perfect"), ("dark_hex(rows=3,cols=2)", "board"), ("openspiel:kuhn_poker", "string")],
)
def test_what_is_written_is_read_again(capsys: pytest.CaptureFixture[str], tmp_path: Path, game: str, recall: str) -> None:
    before, after = tmp_path / "before.nebel", tmp_path / "after.nebel"
    command(capsys, "solve", game, "--recall", recall, "--with", "cfr+", "--iterations", 20, "--out", before)
    table = exported(capsys, before, tmp_path / "table.csv")
    told = command(capsys, "import", table, "--game", game, "--recall", recall, "--out", after)
    assert told["missing"] == "error"
    assert same(load_table(before), load_table(after)), "every bit of every share"
    one, two = (command(capsys, "judge", file) for file in (before, after))
    assert one["exploitability"] == two["exploitability"]


@pytest.mark.parametrize("words", [["K"], ["--json"], ["--limit", "3"], ["--after", "K J"]])
def test_all_of_a_policy_is_written(capsys: pytest.CaptureFixture[str], solved: tuple[Path, Path], words: list[str]) -> None:
    assert main(["show", str(solved[0]), *words, "--csv"]) == 2
    assert "--csv writes all information states" in capsys.readouterr().err
    assert main(["show", str(solved[0]), "--csv", "--player", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 13
    assert {line[0] for line in lines[1:]} == {"1"}


def test_the_result_is_a_policy_like_any(capsys: pytest.CaptureFixture[str], solved: tuple[Path, Path], tmp_path: Path) -> None:
    _, table = solved
    policy, plain = tmp_path / "imported.nebel", tmp_path / "plain.nebel"
    command(capsys, "import", table, "--game", "kuhn", "--out", policy)
    assert command(capsys, "show", policy, "K", "(bet)")["shown"][0]["moves"]["bet"] > 0.9
    assert command(capsys, "match", policy, "random", "--game", "kuhn", "--games", 100)["games"] == 100
    command(capsys, "simplify", policy, "--actions", 1, "--out", plain)


def test_json_by_player_and_as_rows(capsys: pytest.CaptureFixture[str], solved: tuple[Path, Path], tmp_path: Path) -> None:
    policy, table = solved
    rows, nested = [], {"0": {}, "1": {}}  # type: ignore[var-annotated]
    for given in read_rows(table).rows:
        nested[str(given.player)][given.state] = {move: float(share) for move, share in given.moves.items()}
        rows += [{"player": given.player, "state": given.state, "move": m, "share": float(p)} for m, p in given.moves.items()]
    for i, content in enumerate((rows, nested)):
        file, out = tmp_path / f"{i}.json", tmp_path / f"{i}.nebel"
        file.write_text(json.dumps(content))
        command(capsys, "import", file, "--game", "kuhn", "--out", out)
        assert same(load_table(policy), load_table(out))


def test_fractions_are_exact_and_moves_left_out_count_as_0(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file, out = tmp_path / "third.csv", tmp_path / "third.nebel"
    file.write_text(HEAD + "0,J,bet,1/3\n0,J,pass,2/3\n1,K (bet),bet,1\n")
    told = command(capsys, "import", file, "--game", "kuhn", "--missing", "uniform", "--out", out)
    assert (told["missing"], told["information_states"]) == ("uniform", [1, 1])
    policy = load_table(out)
    state = nebel.game("kuhn").start().play("J K")
    assert policy.probabilities(state) == {0: 2 / 3, 1: 1 / 3}
    assert policy.probabilities(state.copy().play("bet")) == {0: 0.0, 1: 1.0}
    assert policy.probabilities(state.copy().play("pass")) == {0: 0.5, 1: 0.5}, "filled as --missing says"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + "0,J,bet,0.5\n0,J,pass,0.4\n", "player 0's shares in the information state 'J' sum to 0.9"),
        (HEAD + "0,J,bet,-0.5\n0,J,pass,1.5\n", "hold -0.5 and sum to 1:"),
        (HEAD + "0,J,bet,1\n", "11 of 12 information states of kuhn have no row, the first is player 0's 'J pass (bet)'"),
        (HEAD + "0,K (pas),bet,1\n", "has no state 'K (pas)' in which player 0 is to move"),
        (HEAD + "1,K (pas),bet,1\n", "did you mean K (pass)"),
        (HEAD + "0,K (bet),bet,1\n", "in the state 'K (bet)' it is player 1 who is to move, not player 0"),
        (HEAD + "0,J,bets,1\n", "'bets' is not a legal move of player 0 in the state 'J' (did you mean bet?); legal: pass bet"),
        (HEAD + "0,J,bet,1/0\n", "'1/0' is not a share"),
        (HEAD + "0,J,bet,nan\n", "'nan' is not a share"),
        (HEAD + f"0,J,bet,0.{'3' * 50}\n", "of at most 40 digits"),
        (HEAD + "0,J,bet,1\n0,J,bet,0\n", "the move 'bet' is given twice"),
        (HEAD + "2,J,bet,1\n", "player '2' has to be 0 or 1"),
        (HEAD + "0,J,bet\n", "line 2 has 3 columns, not 4"),
        ("state,move\n", "its first line has to name the columns player, state, move, share"),
        (HEAD + '0,"J,bet,1\n', "cannot be read as CSV"),
    ],
)
def test_what_is_not_a_policy_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, words: str) -> None:
    file, out = tmp_path / "table.csv", tmp_path / "out.nebel"
    file.write_text(text)
    assert main(["import", str(file), "--game", "kuhn", "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1, "one line"
    assert not out.exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[1]", "entry 0 of the list has to be an object of player, state, move, share"),
        ('{"2": {}}', "it has to be"),
        ('{"0": {"J": 1}}', "has to be an object of moves and shares"),
        ('{"0": {"J": {"bet": NaN}}}', "NaN is not a number in JSON"),
        ('{"0": {"J": {"bet": true}}}', "'True' is not a share"),
        ('{"0": {"J": {"bet": 1}, "J": {"pass": 1}}}', "an object has 'J' twice"),
        ('{"0": {"J": {"bet": 1e999}}}', "is not a share"),
        ('{"state_lookup": {"J": 3}, "action_probability_array": [[1, 0]]}', "sends the state 'J' to row 3"),
        ("[" * 100_000, "cannot be read as JSON"),
    ],
)
def test_json_that_is_not_a_table_is_refused(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "table.json"
    file.write_text(content)
    with pytest.raises(BadFile) as caught:
        read_rows(file)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{file}", "--out", "{out}"], "does not say which game it is for"),
        (["{file}.txt", "--game", "kuhn", "--out", "{out}"], "give a file that ends in .csv, .json or .dhs"),
        (["{file}", "--game", "kuhn", "--recall", "board", "--out", "{out}"], "board"),
        (["{file}", "--game", "dark_hex:4x3", "--out", "{out}"], "too many to list its information states of perfect recall"),
    ],
)
def test_questions_that_have_no_answer(capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "t.csv").write_text(HEAD)
    given = [word.format(file=tmp_path / "t.csv", out=tmp_path / "out.nebel") for word in words]
    assert main(["import", *given]) == 2
    assert said in capsys.readouterr().err


def test_strategies_in_notation(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = Path(nebel.__file__).parent / "strategies" / "s2.dhs"
    told = command(capsys, "import", source, "--out", tmp_path / "s2.nebel")
    assert told["recall"] == "perfect"
    assert told["information_states"][0] == 0
    assert main(["import", str(source), "--game", "dark_hex:3x3", "--out", str(tmp_path / "no.nebel")]) == 2
    assert "is a strategy for dark_hex(rows=4,cols=3)" in capsys.readouterr().err


def tabular(game: Any) -> Any:
    from open_spiel.python.algorithms import cfr

    solver = cfr.CFRSolver(game)
    for _ in range(20):
        solver.evaluate_and_update_policy()
    return solver.average_policy()


@pytest.mark.parametrize("string", ["openspiel:kuhn_poker", "openspiel:leduc_poker", "kuhn", "dark_hex(rows=2,cols=2)"])
def test_openspiel_policies(tmp_path: Path, capsys: pytest.CaptureFixture[str], string: str) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.algorithms import exploitability

    from nebel.bridge.openspiel import to_openspiel

    game = nebel.game(string)
    theirs = pyspiel.load_game(string.removeprefix("openspiel:")) if string.startswith("openspiel:") else to_openspiel(game)
    policy = tabular(theirs)
    taken = policy_from_openspiel(policy, game)
    wanted = exploitability.exploitability(theirs, policy)
    assert judge(game, taken).verdict.exploitability == pytest.approx(wanted, abs=1e-12)
    file, out = tmp_path / "tabular.json", tmp_path / "tabular.nebel"
    content = {"state_lookup": policy.state_lookup, "action_probability_array": policy.action_probability_array.tolist()}
    file.write_text(json.dumps(content))
    command(capsys, "import", file, "--game", string, "--out", out)
    assert same(load_table(out), taken)


def test_openspiel_names_in_a_table(tmp_path: Path) -> None:
    pytest.importorskip("pyspiel")
    from nebel.bridge.openspiel_policy import openspiel_spelling

    game = nebel.game("openspiel:kuhn_poker")
    file = tmp_path / "table.csv"
    file.write_text(HEAD + "0,0,Bet,1\n1,2pb,Bet,1\n0,0pb,Pass,1\n".replace("1,2pb", "1,2b"))
    policy = policy_from_rows(game, read_rows(file).rows, missing="uniform", spelling=openspiel_spelling(game, numbered=False))
    state = game.start().play("Deal:0 Deal:2")
    assert {state.name(move): share for move, share in policy.probabilities(state).items()} == {"Pass": 0.0, "Bet": 1.0}


def test_openspiel_policies_that_do_not_fit() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.policy import TabularPolicy

    game = nebel.game("openspiel:kuhn_poker")
    with pytest.raises(Problem, match="has no action_probabilities"):
        policy_from_openspiel({}, game)
    with pytest.raises(UnknownInformationState, match="12 of 12 information states"):
        policy_from_openspiel(TabularPolicy(pyspiel.load_game("leduc_poker")), game)
    wrong = TabularPolicy(pyspiel.load_game("kuhn_poker"))
    wrong.action_probability_array[0] = [0.5, 0.4]
    with pytest.raises(BadPolicy, match=r"sum to 0\.9"):
        policy_from_openspiel(wrong, game)


def test_names_of_several_states_are_refused(tmp_path: Path) -> None:
    from nebel.policy.known_states import Spelling

    file = tmp_path / "table.csv"
    file.write_text(HEAD + "0,card,bet,1\n")
    spelling = Spelling(lambda state: "card", lambda state: state.legal())
    with pytest.raises(BadFile, match="several information states of player 0 are called 'card'"):
        policy_from_rows(nebel.game("kuhn"), read_rows(file).rows, spelling=spelling)
    file.write_text(HEAD + "0,J,bet,1\n")
    twice = read_rows(file).rows * 2
    with pytest.raises(BadFile, match="player 0's information state 'J' has two rows"):
        policy_from_rows(nebel.game("kuhn"), twice)


def test_boards_of_dark_hex_are_all_known() -> None:
    """The list that larger boards go by, against the tree."""
    from nebel.policy.known_states import _by_board, known_states

    game = nebel.game("dark_hex(rows=3,cols=2)")
    for player in range(2):
        tree = {known.key: (known.names, known.moves) for known in known_states(game, player, "board")}
        assert {known.key: (known.names, known.moves) for known in _by_board(game, player, "board")} == tree
    assert len(tree) == grow(game, "board").sides[1].states
