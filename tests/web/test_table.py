"""The table in a real browser: one move at a time, steps through the past, focus and titles."""

from __future__ import annotations

from typing import Any

from .test_browser import begin, messages_of, settled


def test_a_double_click_makes_one_move(page: Any) -> None:
    begin(page, "dark_hex", "random")
    page.locator(".table.yours").wait_for()
    sent = messages_of(page)
    page.locator('[data-cell="b2"]').dblclick()
    page.locator(".table.yours .events li").first.wait_for()
    free = page.locator(".picture .can[data-cell]").first.get_attribute("data-cell")
    page.locator(f'.moves [data-move="{free}"]').dblclick()
    page.locator(".table.yours .events li").nth(1).wait_for()
    assert [one["move"] for one in sent()] == ["b2", free]
    assert page.locator(".toast").count() == 0


def test_a_move_is_not_sent_while_one_is_under_way(page: Any) -> None:
    begin(page, "dark_hex", "random")
    page.locator(".table.yours").wait_for()
    sent = messages_of(page)
    page.evaluate("for (const move of document.querySelectorAll('.moves button')) move.click()")
    page.locator(".table.yours .events li").first.wait_for()
    assert len(sent()) == 1
    page.locator(".table.yours .picture .can[data-cell]").first.click()
    page.locator(".events li").nth(1).wait_for()
    assert len(sent()) == 2


def into_a_collision(page: Any) -> None:
    """A game of Dark Hex that goes on after a cell that was taken."""
    for seed in range(20):
        players = ["person", "random"]
        begun = page.request.post("/api/play", data={"game": "dark_hex:3x3", "players": players, "seed": seed}).json()
        id, key = begun["id"], begun["seats"][0]["key"]
        for cell in ("a1", "c3", "a3", "c1"):
            now = page.request.post(f"/api/play/{id}/move?key={key}", data={"move": cell}).json()
            seen = [event["kind"] for event in now.get("events", [])]
            if not now.get("yours") or now["over"]:
                break
            if "saw" in seen and seen[-1] == "did":
                page.goto(f"/#/play/{id}/{key}")
                page.locator(".table.yours .events li").nth(len(seen) - 1).wait_for()
                return
    raise AssertionError("no collision")


def test_every_click_goes_one_step_back(page: Any) -> None:
    into_a_collision(page)
    events = page.locator(".events li").count()
    back = page.get_by_role("button", name="One back")
    counts = []
    while back.is_enabled():
        before = settled(page)
        back.click()
        page.locator(".status", has_not_text=before).wait_for()
        counts.append(int(page.url.rsplit("/", 1)[1]))
        assert settled(page).startswith(f"After {counts[-1]} of {events} events.")
    assert counts == sorted(set(counts), reverse=True)
    assert counts[-1] == 0
    assert len(counts) == events - 1  # a cell that was taken is one step with what was seen
    on = page.get_by_role("button", name="One on")
    for count in [*counts[-2::-1], events]:
        on.click()
        page.get_by_text(f"After {count} of").wait_for() if count < events else page.get_by_text("Your move").wait_for()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.get_by_text(f"After {counts[1]} of").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_text(f"After {counts[0]} of").wait_for()


def test_nobody_plays_in_the_past(page: Any) -> None:
    begin(page, "dark_hex", "random")
    for cell in ("b2", "a1"):
        page.locator(f'.table.yours [data-cell="{cell}"]').click()
        page.locator(".table.yours .events").get_by_text(cell).wait_for()
    page.get_by_role("button", name="To the start").click()
    page.get_by_text("After 0 of").wait_for()
    address = page.url
    assert all(button.is_disabled() for button in page.locator(".moves button").all())
    assert page.get_by_label("Type a move").is_disabled()
    page.get_by_role("button", name="Back to the present").click()
    page.get_by_text("Your move").wait_for()
    assert page.url == address.removesuffix("/0")
    page.get_by_role("button", name="To the start").click()
    page.get_by_text("After 0 of").wait_for()
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Really resign?").click()
    page.get_by_text("You resigned").wait_for()  # whatever is done is done now, and shown


def test_the_other_at_this_screen_sees_no_past(page: Any) -> None:
    begin(page, "dark_hex", "screen")
    page.get_by_role("button", name="I am Black").click()
    page.locator('[data-cell="b2"]').click()
    page.locator(".events li").first.wait_for()
    page.get_by_role("button", name="To the start").click()
    page.get_by_text("After 0 of").wait_for()
    page.get_by_role("button", name="Hide the board").click()
    page.get_by_role("button", name="I am White").click()
    page.get_by_text("Your move").wait_for()


def test_the_skip_link_leads_to_the_page(page: Any) -> None:
    page.goto("/#/arena")
    page.get_by_role("button", name="Start").wait_for()
    page.locator("body").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.url.endswith("#/arena")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")
    page.goto("/#main")
    page.reload()
    page.locator(".quick").first.wait_for()


def test_titles_and_focus_follow_the_turn(page: Any) -> None:
    begin(page, "dark_hex", "random")
    page.locator(".table.yours").wait_for()
    assert page.title() == "Your turn – nebel"
    page.get_by_label("Type a move").fill("b2")
    page.keyboard.press("Enter")
    page.locator(".table.yours .events li").first.wait_for()
    page.keyboard.type("a1")  # the field has the focus again
    page.keyboard.press("Enter")
    page.locator(".events li").nth(1).wait_for()
    page.get_by_role("button", name="New game").click()
    page.locator(".quick").first.wait_for()
    assert page.title() == "Play – nebel"
    assert page.evaluate("document.activeElement.id") == "main"


def test_keyboard_alone(page: Any) -> None:
    begin(page, "dark_hex", "random")
    page.locator('[data-cell="a1"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.cell") in ("a2", "b2")
    page.keyboard.press("Enter")
    page.locator(".events li").first.wait_for()
    page.get_by_label("Type a move").fill("c4")
    page.keyboard.press("Enter")
    page.locator(".events li").nth(1).wait_for()


def test_illegal_moves_are_explained(page: Any) -> None:
    begin(page, "dark_hex", "random")
    page.locator('[data-cell="b2"]').click()
    page.locator(".table.yours .events li").first.wait_for()
    page.locator('[data-cell="b2"]').click()
    page.get_by_text("b2 is taken: a stone that you know of is there.").wait_for()
    page.get_by_label("Type a move").fill("b2")
    page.keyboard.press("Enter")
    page.locator(".toast.error").get_by_text("b2 is taken").wait_for()
    for strange in ("zz", "d9", "b2-b3"):
        page.get_by_label("Type a move").fill(strange)
        page.keyboard.press("Enter")
        page.locator(".toast.error").get_by_text(f"There is no cell {strange}.").wait_for()
    assert page.locator(".events li").count() == 1


def test_illegal_moves_are_explained_in_the_words_of_the_game(page: Any) -> None:
    said = {
        "goofspiel": {"zz": "You do not hold a card zz."},
        "liars_dice": {"2-9": "2-9 is not a legal bid", "zz": "zz is not a legal bid"},
        "geister(setup=random)": {
            "b2-b4": "b2 cannot go to b4",
            "b2-b9": "There is no cell b9.",
            "b2-out": "No ghost of yours leaves from b2",
            "a1": "No ghost of yours on a1 can move.",
        },
    }
    for game, moves in said.items():
        seat(page, game)
        for move, why in moves.items():
            page.get_by_label("Type a move").fill(move)
            page.keyboard.press("Enter")
            page.locator(".toast.error").get_by_text(why).wait_for()


def seat(page: Any, game: str) -> None:
    """The first seat at a game, with a person elsewhere in the other."""
    begun = page.request.post("/api/play", data={"game": game, "players": ["person", "person"]}).json()
    page.goto(f"/#/play/{begun['id']}/{begun['seats'][0]['key']}")
    page.locator(".table.yours .moves").wait_for()
