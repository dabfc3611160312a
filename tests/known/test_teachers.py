"""ExIt-OOS as its paper has it, and other searches as teachers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import nebel
from nebel.cli import main
from nebel.core.errors import BadSetting
from nebel.core.game import Game
from nebel.core.recall import PERFECT
from nebel.core.tree import grow
from nebel.learn.drive import Learned, learn
from nebel.learn.exit_oos import ExitOosSettings
from nebel.learn.game_reservoir import GameReservoir
from nebel.learn.memory import Experience
from nebel.learn.presets import preset_of
from nebel.learn.self_play import Task, play
from nebel.papers.exit_oos_replica import PRESETS
from nebel.policy.net import encode
from nebel.search.ismcts import IsmctsSettings
from nebel.solve.run import Budget, Job

SMALL = {"simulations": 30, "games": 8, "steps": 4, "hidden": "8"}


def weights(found: Learned) -> list[NDArray[np.float32]]:
    return [array for layer in found.policy.layers for array in (layer.weights, layer.biases)]  # type: ignore[attr-defined]


def trained(game: str = "kuhn", iterations: int = 3, folder: Path | None = None, resume: bool = False, **settings: object) -> Learned:
    return learn(Job(game, "exit-oos", settings={**SMALL, **settings}), Budget(iterations=iterations), folder, resume)


def equal(one: Learned, other: Learned) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(weights(one), weights(other), strict=True))


def test_the_papers_settings() -> None:
    """Section 4 of the paper."""
    assert sum(grow(nebel.game("leduc(suits=false)")).information_states()) == 288
    networks = {"paper": "128", "paper-leduc": "128", "paper-goofspiel-6": "128-64", "paper-goofspiel-13": "128-128-64"}
    for name, hidden in networks.items():
        s = ExitOosSettings(**preset_of("exit-oos", name))
        assert (s.epsilon, s.delta, s.gamma, s.weighting, s.rate, s.trust, s.stride) == (0.4, 0.9, 0.01, "paper", 0.0, 0.0, 0.0)
        assert (s.target, s.hidden) == ("information" if "goofspiel" in name else "public", hidden)
        assert (s.games, s.steps, s.simulations, s.learning_rate) == (32, 512 if "13" in name else 128, 10_000, 1e-3)
        assert (s.room, s.room_of, s.decay) == (32_000, "games", 2.0)
    assert {name: preset_of("exit-oos", preset)["hidden"] for name, preset in PRESETS.items()} == {
        "leduc(suits=false)": "128", "goofspiel:6": "128-64", "goofspiel:13": "128-128-64",
    }  # fmt: skip


@pytest.mark.parametrize("game", PRESETS)
def test_the_papers_settings_run(game: str) -> None:
    small = {"simulations": 4, "games": 1, "steps": 1, "room": 2}
    result = learn(Job(game, "exit-oos", settings={**preset_of("exit-oos", PRESETS[game]), **small}), Budget(iterations=1))
    assert result.iterations == 1


def experiences(first: int, lengths: list[int]) -> tuple[Experience, NDArray[np.int64]]:
    """Games side by side: a number of experiences each, which say in their rows whose they are and which."""
    marks = [(first + g, k) for k in range(max(lengths)) for g, length in enumerate(lengths) if k < length]
    new = Experience.blank(len(marks), 2, 3)
    new.rows[:] = marks
    return new, np.array([game for game, _ in marks])


def test_a_reservoir_of_games_keeps_whole_games() -> None:
    rng = np.random.default_rng(1)
    kept = GameReservoir(50, 4, 2, 3, 2.0)
    for first in range(0, 1000, 10):
        kept.add(*experiences(first, [1, 4, 2, 3, 4, 1, 1, 2, 3, 4]), rng)
    assert kept.seen == 100 * 25
    drawn = kept.draw(20_000, rng).rows
    games: dict[int, set[int]] = {}
    for game, number in drawn:
        games.setdefault(int(game), set()).add(int(number))
    assert len(games) == 50
    assert all(len(numbers) == [1, 4, 2, 3, 4, 1, 1, 2, 3, 4][game % 10] for game, numbers in games.items())
    assert sum(game >= 900 for game in games) > 25  # the newer the rather
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert counts.min() > 0.6 * counts.mean()  # each experience with the same chance, whatever its game
    other = GameReservoir(50, 4, 2, 3, 2.0)
    other.restore({name: array.copy() for name, array in kept.save().items()})
    same = (reservoir.draw(100, np.random.default_rng(2)).rows for reservoir in (kept, other))
    assert np.array_equal(*same)


def test_the_room_counts_what_it_is_told_to(tmp_path: Path) -> None:
    """Five games are more than five experiences; with room for all, which one it counts changes nothing but the order of draws."""
    assert not equal(trained(room=5), trained(room=5, room_of="games"))
    whole = trained(iterations=4, room=5, room_of="games")
    trained(iterations=2, folder=tmp_path / "run", room=5, room_of="games")
    assert equal(whole, learn(Job("kuhn"), Budget(iterations=4), tmp_path / "run", resume=True))


def lessons(selection: str, simulations: int) -> dict[tuple[float, ...], NDArray[np.float32]]:
    """By what a player knows: the mean lesson of many games of Kuhn poker."""
    task = Task("kuhn", PERFECT, (), IsmctsSettings(selection=selection), simulations, 0.0, 0.0, 3, 0, 60)
    found = play(task).experience
    keys = {tuple(row) for row in found.rows.tolist()}
    return {key: found.shares[[tuple(row) == key for row in found.rows.tolist()]].mean(axis=0) for key in keys}


@pytest.mark.parametrize("selection", ["uct", "rm"])
def test_ismcts_teaches_the_shares_of_its_search(selection: str) -> None:
    """With a king a bet is called, with a jack it is not; visits go elsewhere, too."""
    game = nebel.game("kuhn")
    assert isinstance(game, Game)
    found = lessons(selection, 400)
    for cards, better in (("Q K", 1), ("Q J", 0)):
        state = game.start().play(f"{cards} bet")
        fold_or_call = state.options()
        lesson = found[tuple(encode(state, PERFECT).tolist())]
        assert 0.75 < lesson[fold_or_call[better]] < 1.0


def test_the_teacher_makes_the_lessons(tmp_path: Path) -> None:
    oos, uct, rm = trained(), trained(teacher="ismcts"), trained(teacher="ismcts", selection="rm")
    assert equal(oos, trained(teacher="oos"))
    assert not equal(oos, uct)
    assert not equal(uct, rm)
    trained(iterations=1, folder=tmp_path / "run", teacher="ismcts")
    assert equal(uct, learn(Job("kuhn"), Budget(iterations=3), tmp_path / "run", resume=True, workers="2"))


def test_networks_learn_from_ismcts() -> None:
    result = trained(iterations=12, teacher="ismcts", selection="rm", simulations=300, games=32, steps=64, hidden="32")
    assert result.metrics["exploitability"] < 0.25  # the uniform policy has 0.458


def test_settings_of_the_other_teacher_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadSetting, match="--stride is for --teacher oos, not for ismcts; leave it out"):
        ExitOosSettings(teacher="ismcts", stride=1.0)
    with pytest.raises(BadSetting, match="--selection is for --teacher ismcts, not for oos; leave it out"):
        ExitOosSettings(selection="rm")
    for words, reason in (
        (["--teacher", "mcts"], "--teacher mcts is not one of: oos, ismcts"),
        (["--teacher", "ismcts", "--preset", "paper"], "--epsilon is for --teacher oos, not for ismcts; leave it out"),
        (["--room-of", "positions"], "--room-of positions is not one of: experiences, games"),
    ):
        assert main(["learn", "kuhn", *words]) == 2
        said = capsys.readouterr().err
        assert reason in said
        assert said.count("\n") == 1
