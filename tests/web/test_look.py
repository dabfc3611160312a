"""Looking inside strategies and reviewing games: by the interface, against plain counting, and in a browser."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nebel
from nebel.core.game import CHANCE
from nebel.core.rng import generator
from nebel.core.state import State
from nebel.match.losses import playouts
from nebel.policy.net import Layer, NetPolicy
from nebel.policy.table import Policy, Uniform
from nebel.report.boards import with_moves, with_shades
from nebel.solve.cfr import FullWidth
from nebel.web import inside
from nebel.web.setup import Setup

from .conftest import Local, Serving
from .test_browser import begin, play_out
from .test_play import play_on

SOLVED = {"kuhn": "kuhn", "goofspiel": "goofspiel:3", "hex": "dark_hex:2x2", "leduc": "leduc"}
GAMES = {**SOLVED, "net": "kuhn"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Policies that are not yet at rest, so that nothing is worth the same by accident."""
    made = tmp_path_factory.mktemp("solved")
    for name, game in SOLVED.items():
        solver = FullWidth(nebel.grow(nebel.game(game)), "cfr+")
        solver.run(7)
        nebel.save_policy(solver.policy({}), made / f"{name}.nebel")
    weights = np.random.default_rng(1).normal(size=(7, 2)).astype(np.float32)
    kuhn = nebel.game("kuhn")
    nebel.save_policy(NetPolicy("kuhn", kuhn.fingerprint, "perfect", (Layer(weights, weights[0], ""),)), made / "net.nebel")
    return made


@pytest.fixture(scope="module")
def here(folder: Path) -> Iterator[Local]:
    serving = Local(Setup(runs=folder.parent / "none", policies=(folder,)))
    yield serving
    serving.stop()


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Serving]:
    serving = Serving(folder.parent / "none", "--policies", str(folder), "--db", ":memory:")
    yield serving
    serving.stop()


def ask(here: Local, folder: Path, name: str, what: str, **query: Any) -> Any:
    answer = here.get(f"/api/look/{what}", agent=f"{folder.name}/{name}.nebel", game=GAMES[name], **query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def all_games(state: State) -> Iterator[State]:
    """Every history, by plain recursion."""
    yield state
    for option in state.options():
        yield from all_games(state.copy().push(option))


def odds_by(policy: Policy, state: State, me: int) -> float:
    """How often chance and the other player let it come to this."""
    odds, again = 1.0, state.game.start()
    for step in state.steps:
        if step.turn == CHANCE:
            odds *= again.odds()[again.options().index(step.option)]
        elif step.turn != me:
            odds *= policy.probabilities(again)[step.option]
        again.push(step.option)
    return odds


def value_by(policy: Policy, state: State) -> float:
    """What player 0 gets when both go on by the policy."""
    if state.over:
        return state.score() or 0.0
    shares = dict(zip(state.options(), state.odds(), strict=True)) if state.turn == CHANCE else policy.probabilities(state)
    return sum(share * value_by(policy, state.copy().push(option)) for option, share in shares.items() if share)


@pytest.mark.parametrize("name", ["kuhn", "goofspiel", "hex", "net"])
def test_values_beliefs_and_reach_by_plain_counting(here: Local, folder: Path, name: str) -> None:
    policy, game = nebel.load_policy(folder / f"{name}.nebel"), nebel.game(GAMES[name])
    decisions: dict[tuple[int, str], list[State]] = {}
    for state in all_games(game.start()):
        if state.turn in (0, 1):
            decisions.setdefault((state.turn, state.information(state.turn)), []).append(state)
    chosen = random.Random(3).sample(sorted(decisions), 8)
    for me, text in chosen:
        alike = decisions[me, text]
        after = alike[-1].moves_text()
        weights = [odds_by(policy, state, me) for state in alike]
        if not sum(weights):
            continue
        shown = ask(here, folder, name, "state", after=after)
        shares = {game.name_of_move(move): share for move, share in policy.probabilities(alike[0]).items()}
        assert {row["move"]: row["share"] for row in shown["moves"]} == shares
        assert shown["information"] == text
        assert ask(here, folder, name, "way", after=after)[-1] == after
        worth = ask(here, folder, name, "values", after=after)
        sign = 1 if me == 0 else -1
        for option in alike[0].options():
            value = sum(w * value_by(policy, state.copy().push(option)) for w, state in zip(weights, alike, strict=True)) / sum(weights)
            assert worth["moves"][game.name_of_move(option)] == pytest.approx(sign * value, abs=1e-6)
        known = ask(here, folder, name, "belief", after=after)
        assert known["exact"]
        assert known["by"].startswith("Exact. By the strategy")
        assert sum(row["share"] for row in known["secrets"]) == pytest.approx(1)
        hidden: dict[str, float] = {}
        for weight, state in zip(weights, alike, strict=True):
            if weight:
                words = {"kuhn": _card, "net": _card, "goofspiel": _held, "hex": _unseen}[name](state, me)
                hidden[words] = hidden.get(words, 0.0) + weight / sum(weights)
        assert {row["text"]: row["share"] for row in known["secrets"]} == pytest.approx(hidden)
        if name in ("kuhn", "net"):  # one card is the whole hand
            assert {row["text"]: row["share"] for row in known["hand"]} == pytest.approx(hidden)


def _card(state: State, me: int) -> str:
    return state.moves()[1 - me]


def _held(state: State, me: int) -> str:
    return state.view(1 - me).splitlines()[-1].removeprefix(f"player {1 - me} ")


def _unseen(state: State, me: int) -> str:
    pairs = zip(range(4), _marks(state, "truth"), _marks(state, me), strict=True)
    return " ".join(state.game.name_of_move(cell) for cell, real, known in pairs if real != "." and known == ".") or "nothing"


def _marks(state: State, seat: Any) -> str:
    return "".join(mark for line in state.view(seat).splitlines()[1:] for mark in line.split()[1:])


def test_walking_from_the_start_to_the_end(here: Local, folder: Path) -> None:
    found = ask(here, folder, "leduc", "roots", player=1)
    assert found["complete"]
    assert sum(one["share"] for one in found["next"]) == pytest.approx(1)
    assert sorted(one["text"] for one in found["next"]) == sorted(f"{c}{s} ({m})" for c in "JQK" for s in "sh" for m in ("call", "raise"))
    after = next(one["after"] for one in found["next"] if one["text"] == "Ks (call)")
    on = ask(here, folder, "leduc", "next", after=after, move="call")
    assert on["complete"]
    assert {one["text"].split()[1] for one in on["next"]} == {"Js", "Jh", "Qs", "Qh", "Kh"}
    assert sum(one["share"] for one in on["next"]) == pytest.approx(1)
    deeper = ask(here, folder, "leduc", "state", after=on["next"][0]["after"])
    assert deeper["path"] == ["Ks (call)", on["next"][0]["text"]]
    assert ask(here, folder, "leduc", "way", after=on["next"][0]["after"]) == [after, on["next"][0]["after"]]
    assert ask(here, folder, "leduc", "next", after="Js Ks raise", move="fold") == {"complete": True, "next": []}
    hexes = ask(here, folder, "hex", "next", after="a1 a2", move="b1")["next"]
    assert [one["text"] for one in hexes] == ["b1 taken"]  # if b1 is free, White has won before Black moves again


def test_games_of_openspiel_are_walked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspiel")
    serving = Local(Setup(runs=tmp_path, games=("openspiel:kuhn_poker",)))
    try:
        asked = {"agent": "uniform", "game": "openspiel:kuhn_poker", "after": "Deal:0 Deal:2"}
        known = serving.get("/api/look/belief", **asked).json()
        assert {row["text"]: row["share"] for row in known["secrets"]} == {"1": 0.5, "2": 0.5}
        on = serving.get("/api/look/next", move="Pass", **asked).json()
        assert [(row["text"], row["share"]) for row in on["next"]] == [("Pass 0pb", 1.0)]
        worth = serving.get("/api/look/values", **asked).json()
        assert worth["moves"]["Bet"] == pytest.approx(-0.5)  # called by half: -2, else +1
        monkeypatch.setattr(inside, "MOST_WALKED", 3)
        assert "not written in rules" in serving.get("/api/look/belief", **asked).json()["by"]
    finally:
        serving.stop()


def test_find_by_text(here: Local, folder: Path) -> None:
    (row,) = ask(here, folder, "kuhn", "find", text="K (bet)")
    assert row["player"] == 1
    assert nebel.game("kuhn").start().play(row["after"]).information(1) == "K (bet)"
    assert ask(here, folder, "kuhn", "find", text="K (fold)") == []
    glance = here.get("/api/look/find", agent="shipped/board-4x3.nebel", game="dark_hex:4x3", text="x../.../.../...").json()
    assert {row["after"] for row in glance} == {None}
    assert all(sum(row["moves"].values()) == pytest.approx(1) for row in glance)


def test_what_is_refused_says_why(here: Local, folder: Path) -> None:
    agent = f"{folder.name}/kuhn.nebel"
    for query, why in (
        ({"agent": "nobody.nebel", "game": "kuhn"}, "no agent and no policy 'nobody.nebel' here"),
        ({"agent": agent, "game": "chess"}, "chess"),
        ({"agent": agent, "game": "kuhn", "after": "K K"}, "K is not legal for chance"),
        ({"agent": agent, "game": "kuhn"}, "no player is to move"),
        ({"agent": agent, "game": "leduc"}, "was made for kuhn"),
        ({"agent": "heuristic", "game": "cheat", "after": "Ah2s-As2h-0"}, "does not say how often"),
    ):
        answer = here.get("/api/look/state", **query)
        assert answer.status_code == 400
        assert why in answer.json()["error"]
    worth = here.get("/api/look/values", agent="shipped/board-4x3.nebel", game="dark_hex:4x3").json()
    assert worth["moves"] == {}
    assert "more than 2,000,000 histories" in worth["note"]
    guess = worth["estimate"]
    assert guess["mean"] == pytest.approx(2 * 14279 / 67484 - 1, abs=2 * guess["error"])  # as the exact solution has it
    assert guess["games"] > 100


def test_boards_of_large_games(here: Local) -> None:
    """Dark Hex goes by the policy where its histories can be counted; Geister by colours."""
    known = here.get("/api/look/belief", agent="shipped/board-4x3.nebel", game="dark_hex:4x3", after="b2 a1").json()
    assert known["exact"]
    assert "data-cell" in known["svg"]
    assert sum(row["share"] for row in known["secrets"]) == pytest.approx(1)
    game = "geister:x4y4g4b0"
    state = nebel.game(game).start().deal(generator(1))
    query = {"agent": "random", "game": game, "after": state.moves_text()}
    colours = here.get("/api/look/belief", **query).json()
    assert len(colours["secrets"]) == 6
    assert all(row["share"] == pytest.approx(1 / 6) for row in colours["secrets"])
    assert colours["svg"].count("50%") == 4
    moves = here.get("/api/look/state", **query).json()
    assert moves["svg"].count("<line") == len(moves["moves"]) == len(state.legal())


def test_who_thinks_is_looked_into(here: Local) -> None:
    query = {"agent": "oos:300", "game": "kuhn", "after": "K J bet"}
    shown = here.get("/api/look/state", **query).json()
    assert sum(row["share"] for row in shown["moves"]) == pytest.approx(1)
    assert shown["reach"] is None
    known = here.get("/api/look/belief", **query).json()
    assert {row["text"] for row in known["secrets"]} == {"K", "Q"}
    assert "By the search" in known["by"]


def test_pictures_with_shades_and_arrows() -> None:
    svg = nebel.game("geister").start().deal(generator(1)).svg(0)
    assert with_moves(svg, {"b1-a1": 0.25, "zz": 0.5}).count(">.250<") == 1
    assert with_shades(svg, {"b5": 0.5, "c5": 0.004}, "#c0392b").count(">&lt;1%<") == 1
    goofspiel = nebel.game("goofspiel").start().svg(0)
    assert with_moves(goofspiel, {"0": 0.25, "3": 0.75}).count(">.250<") == 1
    cheat = nebel.game("cheat(starter=0)").start().play("Ah2s-As2h-0").svg(0)
    shown = with_moves(cheat, {"Ah": 0.25, "Ah2s": 0.5, "2s": 0.25})  # either card is put down in three of four
    assert (shown.count(">.750<"), shown.count("#d9622b")) == (2, 2)
    hexes = nebel.game("dark_hex:2x2").start().svg(0)
    shaded = with_shades(hexes, {"a1": 1.0, "b1": 0.0}, "#000")
    assert shaded.count(">100%<") == shaded.count("fill-opacity") == 1
    assert shaded.index("fill-opacity") < shaded.index(">a1<")  # below the names, above the cells


def test_review(here: Local, folder: Path) -> None:
    agent = f"{folder.name}/leduc.nebel"
    begun = here.begin("leduc", "person", agent, seed=11)
    id, key = begun["id"], begun["seats"][0]["key"]
    with here.live(id, key) as socket:
        play_on(socket, random.Random(1))
    listed = here.get(f"/api/review/{id}", key=begun["seats"][0]["watch"]).json()
    assert listed["seat"] == 0
    policy = nebel.load_policy(folder / "leduc.nebel")
    state = nebel.read_record(here.get(f"/api/play/{id}/record", key=key).text)
    assert [state.moves()[one["at"]] for one in listed["moves"]] == [one["move"] for one in listed["moves"]]
    for one in listed["moves"]:
        found = here.get(f"/api/review/{id}/move", key=key, agent=agent, at=one["at"]).json()
        loss, values = found["loss"], found["worth"]["moves"]
        assert found["played"] == one["move"]
        assert loss["kind"] == "exact"
        assert loss["loss"] == pytest.approx(max(values.values()) - values[one["move"]])
        assert found["belief"]["truth"] == state.moves()[1]
        shares = {row["move"]: row["share"] for row in found["moves"]}
        assert found["worth"]["value"] == pytest.approx(sum(shares[move] * value for move, value in values.items()))
        at = nebel.game("leduc").start().play(state.moves()[: one["at"]])
        guess = playouts(policy, [(at, 1.0)], at.options()[0], 40, 20.0)
        assert guess is not None
        assert guess.games == 40
    assert here.get(f"/api/review/{id}/move", key=key, agent=agent, at=0).status_code == 400


@pytest.mark.parametrize("seat", [0, 1])
def test_colours_that_were_chosen_are_reviewed(here: Local, seat: int) -> None:
    """Whoever places first does so before there is anything to be known of the other."""
    players = ["random", "random"]
    players[seat] = "person"
    begun = here.begin("geister(width=3,height=3,ghosts=2,buffer=0,setup=chosen)", *players, seed=4)
    id, key = begun["id"], begun["seats"][0]["key"]
    with here.live(id, key) as socket:
        play_on(socket, random.Random(3))
    made = here.get(f"/api/review/{id}", key=key).json()["moves"]
    truths = [here.get(f"/api/review/{id}/move", key=key, agent="random", at=one["at"]).json()["belief"]["truth"] for one in made[:2]]
    assert (truths[0] is None) == (seat == 0)
    assert truths[1].startswith("red: ")


def test_playouts_come_close_to_exact_losses() -> None:
    """Calling a bet with a jack loses; by how much is plain: the other bets kings and queens, alike."""
    state = nebel.game("kuhn").start().play("K J bet")
    other = nebel.game("kuhn").start().play("Q J bet")
    guess = playouts(Uniform(), [(state, 0.5), (other, 0.5)], state.options()[1], 1500, 60.0)
    assert guess is not None
    assert guess.mean == pytest.approx(0.5, abs=3 * guess.error / 1.96)  # -1.5 on average by the policy, -2 by the call
    assert guess.error < 0.2


def test_nothing_is_reviewed_before_the_end(here: Local) -> None:
    """And the refusal is the same whatever is hidden."""
    said = set()
    for seed in range(4):
        begun = here.begin("dark_hex:3x3", "random", "person", seed=seed)
        id, key = begun["id"], begun["seats"][0]["key"]
        for answer in (
            here.get(f"/api/review/{id}", key=key),
            here.get(f"/api/review/{id}/move", key=key, agent="random", at=0),
            here.get(f"/api/review/{id}/move", key=key, agent="nobody", at=99),
        ):
            assert answer.status_code == 409
            said.add(answer.text)
        assert here.get(f"/api/review/{id}", key="guess").status_code == 403
    assert {json.loads(text)["error"] for text in said} == {"a review shows what was hidden: finish the game, or resign"}


def test_reviews_of_large_games_are_estimates_and_say_so(here: Local) -> None:
    agent = "shipped/board-4x3.nebel"
    begun = here.begin("dark_hex:4x3", "person", agent, seed=2)
    id, key = begun["id"], begun["seats"][0]["key"]
    with here.live(id, key) as socket:
        play_on(socket, random.Random(2))
    first = here.get(f"/api/review/{id}", key=key).json()["moves"][0]["at"]
    loss = here.get(f"/api/review/{id}/move", key=key, agent=agent, at=first).json()["loss"]
    assert loss["kind"] == "estimate"
    assert "An estimate by" in loss["note"]
    assert 0 < loss["error"] < 1


def test_damaged_files_are_left_out_and_named(page: Any, folder: Path) -> None:
    bad = folder / "bad.nebel"
    bad.write_text("no policy")
    try:
        page.goto("/#/look")
        page.get_by_text("1 file left out").click()
        page.get_by_text(f"{folder.name}/bad.nebel: bad.nebel is not a policy").wait_for()
        page.get_by_role("button", name="Leduc poker").wait_for()
    finally:
        bad.unlink()


def test_in_the_browser(page: Any, folder: Path) -> None:
    page.goto("/#/look")
    page.get_by_role("button", name="Leduc poker").click()
    page.get_by_role("button", name="Ks (call)").click()
    page.get_by_text("Own reach: 100.0 %").wait_for()
    page.locator(".bars .value.best").wait_for()
    assert page.locator(".bars li[data-move]").count() == 2
    page.locator(".secrets li").first.wait_for()
    assert page.locator(".secrets li").count() == 5
    page.locator(".bars button", has_text="call").click()
    page.get_by_role("button", name="call Kh (call)").click()
    page.locator(".events li").nth(1).wait_for()
    assert page.locator(".events li").count() == 2
    page.reload()
    page.get_by_text("Own reach").wait_for()
    page.get_by_placeholder("find: what a player did and saw").fill("Js")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("heading", name="What Player 0 plays").wait_for()

    page.goto("/#/look")
    page.get_by_role("button", name="2 × 2").click()
    page.get_by_role("button", name="nothing yet").first.click()
    page.locator(".belief svg").wait_for()
    page.locator(".board [data-cell='a1']").click()
    page.get_by_role("button", name="a1", exact=False).first.wait_for()

    begin(page, "leduc", f"{folder.name}/leduc.nebel")
    play_out(page, random.Random(1))
    page.get_by_role("button", name="Review").click()
    page.get_by_text("was lost, exactly").wait_for()
    page.get_by_text("so it was").wait_for()
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
