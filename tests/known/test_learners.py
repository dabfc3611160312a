"""Methods that learn with networks: each gets better at Kuhn poker, goes on to the bit where it stopped, and stays finite in long games."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.cli import main
from nebel.core.errors import TooLarge
from nebel.learn.deep_cfr import DeepCfr, DeepCfrSettings
from nebel.learn.dream import Dream, DreamSettings
from nebel.learn.drive import LEARNERS, METHODS, Learner, Yardstick, _LearnerLoop, learn
from nebel.learn.memory import Experience
from nebel.learn.mirror import Mirror
from nebel.learn.mmd_ppo import MmdPpo, MmdPpoSettings
from nebel.learn.nets import Dense, Settled, torch
from nebel.learn.nfsp import Nfsp, NfspSettings
from nebel.learn.presets import PRESETS
from nebel.learn.workers import Alone, Workers, hire
from nebel.policy.io import load_policy, save_policy
from nebel.policy.net import NetPolicy
from nebel.policy.nets import NetsPolicy
from nebel.search.target import in_rules
from nebel.solve.run import Budget, Job

SMALL: dict[str, Any] = {"traversals": 300, "hidden": "32-32", "steps": 60, "average_steps": 40, "batch": 256, "room": 20_000, "rate": 3e-3}
SIDE_BY_SIDE: dict[str, Any] = {"boards": 128, "plies": 8, "hidden": "32-32", "rate": 3e-3}
CALM: dict[str, Any] = {"magnet": 1.0, "mean": 0.98, "even": 0.1, "damp": 0.2, "settling": 20.0}
CARDS: dict[str, Any] = {"even": 0.2, "settling": 5.0}
AS_IN_PAPERS: dict[str, Any] = {"exploring": "along", "memory": "samples", "stray": 0.1, "settling": 100.0, "anticipate": 0.1}
OWN_BASELINES: dict[str, Any] = {"baseline": "each", "baseline_room": 20_000}
KINDS: dict[str, tuple[Any, Any, int, float]] = {  # learner, settings, iterations, exploitability of Kuhn that is reached
    "external": (DeepCfr, DeepCfrSettings(**SMALL), 12, 0.2),
    "external-nets": (DeepCfr, DeepCfrSettings(**SMALL, average="nets"), 12, 0.2),
    "once": (DeepCfr, DeepCfrSettings(**SMALL, sampling="outcome"), 15, 0.25),
    "always": (DeepCfr, DeepCfrSettings(**SMALL, sampling="outcome", estimate="always"), 15, 0.2),
    "paper": (DeepCfr, DeepCfrSettings(**SMALL, sampling="outcome", estimate="paper"), 15, 0.25),
    "paper-reservoir": (DeepCfr, DeepCfrSettings(**SMALL, sampling="outcome", estimate="paper", memory="reservoir"), 15, 0.25),
    "dream": (Dream, DreamSettings(**SMALL, baseline_steps=60), 15, 0.2),
    "dream-papers": (Dream, DreamSettings(**SMALL, **OWN_BASELINES, baseline_steps=60, memory="reservoir", average="nets"), 15, 0.25),
    "nfsp": (Nfsp, NfspSettings(**SIDE_BY_SIDE, replay=20_000, room=50_000), 200, 0.25),
    "nfsp-papers": (Nfsp, NfspSettings(**SIDE_BY_SIDE, **AS_IN_PAPERS, replay=20_000, room=50_000), 200, 0.25),
    "mmd-closed": (Mirror, MmdPpoSettings(step="closed", games=150, hidden="32-32", critic="32-32", **CARDS, room=50), 60, 0.12),
    "mmd-ppo": (MmdPpo, MmdPpoSettings(**SIDE_BY_SIDE, critic="32-32", batch=1024, **CALM), 300, 0.25),
}
UNIFORM = 0.458333


def learner(kind: str, game: str = "kuhn", recall: str = "perfect", seed: int = 1, **settings: Any) -> Learner:
    make, given, _, _ = KINDS[kind]
    found: Learner = make(in_rules(nebel.game(game)), recall, type(given)(**{**vars(given), **settings}), seed, Alone())
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_kuhn(kind: str) -> None:
    it = learner(kind)
    yardstick = Yardstick(in_rules(nebel.game("kuhn")))
    for _ in range(KINDS[kind][2]):
        it.iterate()
    assert yardstick.measure(it.policy({}))["exploitability"] < KINDS[kind][3] < UNIFORM


@pytest.mark.parametrize("kind", KINDS)
def test_it_goes_on_where_it_stopped(kind: str) -> None:
    whole, part, rest = (learner(kind, seed=7) for _ in range(3))
    for _ in range(5):
        whole.iterate()
    for _ in range(2):
        part.iterate()
    rest.restore({name: array.copy() for name, array in part.save().items()}, 2)
    for _ in range(3):
        rest.iterate()
    assert {k: v for k, v in whole.metrics.items() if "second" not in k and "share" not in k} == {
        k: v for k, v in rest.metrics.items() if "second" not in k and "share" not in k
    }
    state = nebel.game("kuhn").start().play("Q K")
    assert whole.policy({}).probabilities(state) == rest.policy({}).probabilities(state)


@pytest.mark.parametrize("fresh", [False, True])
def test_players_alternate(fresh: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second player samples against what the first has just learned, whether its network is new or not."""
    it: Any = learner("always", fresh=fresh)
    faced, sample = [], it.sample

    def watch(player: int, stream: int) -> Any:
        faced.append(it.mind().nets[0](np.eye(it.games.size, dtype=np.float32)))
        return sample(player, stream)

    it.iterate()
    monkeypatch.setattr(it, "sample", watch)
    it.iterate()
    assert not np.array_equal(faced[0], faced[1])
    assert np.array_equal(faced[1], it._gains[0](np.eye(it.games.size, dtype=np.float32)))


@pytest.fixture(scope="module")
def processes() -> Iterator[Workers]:
    crew = hire("2")
    yield crew
    crew.close()


MANY = {"nfsp": {"boards": 600}, "mmd-ppo": {"boards": 600}, "mmd-closed": {"games": 600}}
SPREAD = ["external", "once", "dream", "nfsp", "mmd-ppo", "mmd-closed"]


@pytest.mark.parametrize("kind", SPREAD)
def test_it_is_the_same_whoever_plays(kind: str, processes: Workers) -> None:
    make, given, _, _ = KINDS[kind]
    many = type(given)(**{**vars(given), **MANY.get(kind, {"traversals": 600})})
    alone, spread = (make(in_rules(nebel.game("kuhn")), "perfect", many, 3, crew) for crew in (Alone(), processes))
    for it in (alone, spread):
        it.prepare()
        for _ in range(2):
            it.iterate()
    state = nebel.game("kuhn").start().play("Q K")
    assert alone.policy({}).probabilities(state) == spread.policy({}).probabilities(state)


FEW: dict[str, Any] = {"steps": 2, "batch": 64}
LONG = [
    ("once", {**FEW, "traversals": 6, "average_steps": 2, "room": 2000}),
    ("always", {**FEW, "traversals": 6, "average_steps": 2, "room": 2000}),
    ("paper", {**FEW, "traversals": 6, "average_steps": 2, "room": 2000, "hidden": "geister-deep-cfr"}),
    ("dream", {**FEW, "traversals": 6, "average_steps": 2, "room": 2000, "baseline_steps": 2, "hidden": "geister-dream"}),
    ("paper-reservoir", {**FEW, "traversals": 6, "average_steps": 2, "room": 2000, "hidden": "geister-deep-cfr"}),
    ("dream-papers", {**FEW, "traversals": 6, "room": 2000, "baseline_steps": 2, "hidden": "geister-dream"}),
    ("nfsp", {**FEW, "boards": 8, "plies": 200, "replay": 2000, "room": 2000}),
    ("mmd-ppo", {"boards": 8, "plies": 200, "hidden": "conv:8-8/32"}),
    ("mmd-closed", {"games": 6, "steps": 2, "room": 2000}),
]


@pytest.mark.parametrize(("kind", "settings"), LONG, ids=[kind for kind, _ in LONG])
def test_games_of_300_plies_stay_finite(kind: str, settings: dict[str, Any]) -> None:
    it = learner(kind, "geister", "clock", **settings)
    for _ in range(2):
        it.iterate()
    assert all(np.isfinite(value) for value in it.metrics.values())
    state = nebel.game("geister").start().play("ABCD AEFG")
    assert sum(it.policy({}).probabilities(state).values()) == pytest.approx(1.0)


def test_tempered_samples_count_alike() -> None:
    """In long games one sample outweighs all others, unless weights are tempered."""
    worth = []
    for temper in (1.0, 0.0):
        it = learner("once", "geister", "clock", steps=2, batch=64, traversals=60, average_steps=2, room=2000, temper=temper)
        for _ in range(3):
            it.iterate()
        worth.append(it.metrics["effective_samples"] / it.metrics["samples"])
    assert worth[0] < 0.2 < 0.6 < worth[1]


def test_external_sampling_refuses_games_without_end() -> None:
    with pytest.raises(TooLarge, match="use --sampling outcome"):
        learner("external", "geister", "clock").iterate()


def test_one_network_of_many_is_drawn_for_a_game(tmp_path: Path) -> None:
    """In a tree, at a board, and from a file: the same."""
    it = learner("external-nets")
    for _ in range(3):
        it.iterate()
    policy = it.policy({"method": "deep-cfr"})
    assert isinstance(policy, NetsPolicy)
    save_policy(policy, tmp_path / "nets")
    read = load_policy(tmp_path / "nets")
    tree = nebel.grow(nebel.game("kuhn"))
    for player, strategy in enumerate(policy.on_tree(tree).strategies):
        side = tree.sides[player]
        for i in range(side.states):
            state = tree.state_of(player, i)
            assert list(read.probabilities(state).values()) == pytest.approx(strategy[side.row[i] : side.row[i + 1]], abs=1e-5)
    assert main(["match", str(tmp_path / "nets"), "random", "--games", "20"]) == 0


@pytest.mark.parametrize("shape", ["24-12", "conv:8-4/16", "geister-deep-cfr", "geister-dream", "dark-hex-nfsp"])
def test_networks_play_as_they_learned(shape: str) -> None:
    """In play every stage is a dense layer, and without gradients the first sums come from few cells: the numbers are those of torch."""
    game, rng = in_rules(nebel.game("geister:x4y3g4b0")), np.random.default_rng(2)
    net = Dense.of(game, "clock", shape, 1e-2, 1)
    rows = rng.random((64, game.encodings["clock"].size)).astype(np.float32)
    legal = np.ones((64, game.actions), np.bool_)
    shares = rng.dirichlet(np.ones(game.actions), 64).astype(np.float32)
    losses = [net.step(Experience(rows, shares, legal)) for _ in range(30)]
    assert losses[-1] < losses[0]
    policy = net.policy(game, "clock", {})
    assert isinstance(policy, NetPolicy)
    few = rows * (rng.random(rows.shape) < 0.2)
    few[::3, 12:24], few[::5, :12] = 0.7, 0.0  # planes that are level, or empty
    for asked in (rows, few.astype(np.float32), few[:1].astype(np.float32)):
        net.net.eval()
        with torch.inference_mode():
            wanted = net.net(torch.from_numpy(asked)).numpy()
        assert net(asked) == pytest.approx(wanted, abs=2e-4)
        assert policy.logits(asked) == pytest.approx(wanted, abs=2e-4)
    assert policy.logits(rows[:0]).shape == (0, game.actions)  # nobody is left to ask for


def test_what_plays_is_the_mean_of_the_last_weights() -> None:
    """A network that is told now this, now that, swings; the mean hardly does."""
    game = in_rules(nebel.game("kuhn"))
    net = Settled.of(game, "perfect", "16", 1e-2, 1)
    rows, legal = np.eye(game.encodings["perfect"].size, dtype=np.float32)[:1], np.ones((1, game.actions), np.bool_)
    plays, swings = [], []
    for step in range(400):
        net.step(Experience(rows, np.eye(game.actions, dtype=np.float32)[step // 10 % 2][None], legal))
        if step >= 200:
            plays.append(float(np.diff(net.policy(game, "perfect", {}).logits(rows)[0, :2])[0]))
            swings.append(float(np.diff(net(rows)[0, :2])[0]))
    assert np.ptp(plays) < np.ptp(swings) / 3
    assert np.mean(plays) == pytest.approx(np.mean(swings), abs=np.ptp(swings) / 3)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--with", "dream", "--hidden", "conv:8/8"], "planes of a board"),
        (["--with", "mmd-ppo", "--hidden", "64-x"], "128-64"),
        (["--with", "deep-cfr", "--sampling", "some"], "external, outcome"),
        (["--with", "nfsp", "--preset", "poker"], "no preset 'poker'"),
        (["--with", "nfsp", "--memory", "samples", "--fading", "5"], "--fading belongs to --memory sums"),
        (["--with", "nfsp", "--exploring", "both"], "--exploring"),
        (["--with", "mmd-ppo", "--step", "closed", "--clip", "0.5"], "--clip belongs to --step gradient"),
    ],
)
def test_what_cannot_be_is_refused(words: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", "kuhn", *words, "--iterations", "1"]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize(
    ("game", "recall", "reason"),
    [
        ("dark_hex:3x2", "perfect", "some for board, and with diary=true more"),
        ("cheat:2", "general", "some for memoryless, hp-aware, and with diary=true more"),
        ("geister:x2y3g2b0", "sideways", "it has: perfect, board"),
    ],
)
def test_a_recall_that_is_asked_for_is_not_replaced(game: str, recall: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", game, "--with", "dream", "--recall", recall, "--iterations", "1"]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("method", sorted(LEARNERS))
def test_every_method_has_presets_of_settings_that_it_takes(method: str) -> None:
    assert PRESETS[method]
    for preset in PRESETS[method].values():
        assert METHODS[method](**preset.settings)


@pytest.mark.parametrize("method", sorted(LEARNERS.keys() - {"exit-oos", "vr-deep-dcfr+"}))  # those have tests of their own
def test_methods_from_the_command_line(method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = {"mmd-ppo": ["--boards", "32"], "nfsp": ["--boards", "32"]}
    words = few.get(method, ["--traversals", "50", "--steps", "20", "--average-steps", "20"])
    run = tmp_path / "run"
    assert main(["learn", "kuhn", "--with", method, *words, "--iterations", "2", "--run", str(run)]) == 0
    assert main(["learn", "--resume", str(run), "--iterations", "3"]) == 0
    assert len((run / "metrics.jsonl").read_text().splitlines()) == 3
    assert main(["judge", str(run / "policy.nebel")]) == 0
    assert "exploitability" in capsys.readouterr().out


def test_the_last_row_has_the_figure_of_the_final_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the clock ends a run after the row of its last iteration was written."""
    calls = iter([False, False, False, True])
    monkeypatch.setattr(_LearnerLoop, "_done", lambda self: next(calls))
    job = Job("kuhn", "dream", settings={"traversals": 20, "steps": 1, "average_steps": 1, "baseline_steps": 1, "hidden": "8"})
    done = learn(job, Budget(seconds=100.0), tmp_path / "run")
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [row["iterations"] for row in rows] == [1, done.iterations]
    assert rows[-1]["exploitability"] == done.metrics["exploitability"]


def test_steps_that_suit_the_game(capsys: pytest.CaptureFixture[str]) -> None:
    """Games of cards take the closed step, unless something is said that belongs to the other; boards take gradients."""
    for game, words, step in (
        ("kuhn", ["--games", "20"], "closed"), ("kuhn", ["--boards", "8"], "gradient"), ("geister:x2y3g2b0", ["--boards", "8"], "gradient"),
    ):  # fmt: skip
        assert main(["learn", game, "--with", "mmd-ppo", *words, "--iterations", "1", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["settings"]["step"] == step
    assert main(["learn", "geister:x2y3g2b0", "--with", "mmd-ppo", "--games", "20", "--iterations", "1"]) == 2
    assert "--games belongs to --step closed" in capsys.readouterr().err


def test_numbers_that_are_none_end_a_run_and_spare_its_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, words = tmp_path / "run", ["learn", "kuhn", "--with", "dream", "--traversals", "20", "--steps", "2"]
    assert main([*words, "--iterations", "2", "--run", str(run)]) == 0
    before = (run / "checkpoint" / "state.safetensors").read_bytes()
    learned = Dream.iterate

    def fail(self: Dream) -> None:
        learned(self)
        self.metrics["loss"] = float("nan")

    monkeypatch.setattr(Dream, "iterate", fail)
    assert main(["learn", "--resume", str(run), "--iterations", "4", "--checkpoint-every", "0.001"]) == 2
    assert "loss is nan after 3 iterations" in capsys.readouterr().err
    assert (run / "checkpoint" / "state.safetensors").read_bytes() == before


def test_metrics_for_tensorboard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    learn = ["learn", "kuhn", "--with", "vr-deep-dcfr+", "--iterations", "2", "--traversals", "50", "--tensorboard"]
    assert main([*learn, str(tmp_path / "board")]) == 0
    found = reading.EventAccumulator(str(tmp_path / "board"))
    found.Reload()
    assert [event.step for event in found.Scalars("exploitability")] == [1, 2]
    (tmp_path / "file").write_text("")
    assert main([*learn, str(tmp_path / "file" / "board")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_large_games_are_measured_by_games_against_all_bots() -> None:
    it, game = learner("mmd-ppo", "cheat:4", "memoryless"), in_rules(nebel.game("cheat:4"))
    found = Yardstick(game).measure(it.policy({}))
    assert list(found) == ["wins_against_random", "wins_against_heuristic"]
    assert 0.4 < found["wins_against_random"] < 0.6
    assert found["wins_against_heuristic"] < 0.3
