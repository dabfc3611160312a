"""Addresses in a real browser: what they show, whom they let in, and from where they are followed."""

from __future__ import annotations

import http.server
import threading
from pathlib import Path
from typing import Any

import httpx

from .conftest import Serving
from .test_browser import begin, settled


def test_the_address_can_be_kept_and_shared(page: Any, browser: Any, server: Serving) -> None:
    begin(page, "dark_hex", "random")
    page.locator('[data-cell="b2"]').click()
    page.locator(".table.yours .events li").first.wait_for()
    page.reload()
    page.locator(".table.yours .events li").first.wait_for()  # still at the board, still to move
    page.locator('[data-cell="a1"]').click()
    page.locator(".table.yours .events li").nth(1).wait_for()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Share").click()
    page.get_by_text("The address is copied").wait_for()
    shared = page.evaluate("navigator.clipboard.readText()")
    guest = browser.new_context(base_url=server.url).new_page()
    guest.goto(shared)
    guest.locator(".events li").nth(1).wait_for()
    assert guest.locator(".tag").inner_text() == "watching"
    assert settled(guest) == "Black is to move."
    assert "you" not in guest.locator(".side h2").first.inner_text().lower()
    assert guest.locator(".moves").count() == 0
    assert guest.get_by_role("button", name="Resign").count() == 0
    page.get_by_role("button", name="To the start").click()
    page.get_by_text("After 0 of").wait_for()
    guest.goto(f"{shared}/0")
    guest.reload()
    guest.get_by_text("After 0 of").wait_for()
    guest.context.close()


def test_the_address_shows_nobody_a_hand(page: Any, browser: Any, server: Serving) -> None:
    """Whoever gets the address of a player's page sees nothing of the game, wherever in it the player is."""
    begin(page, "kuhn", "random")
    keys = page.evaluate("JSON.parse(localStorage['nebel-games'])[0].seats.flatMap(seat => [seat.key, seat.watch])")
    page.locator(".table.yours").wait_for()
    addresses = [page.url]
    page.get_by_role("button", name="To the start").click()
    page.get_by_text("After 0 of").wait_for()
    addresses.append(page.url)
    page.reload()
    page.get_by_text("After 0 of").wait_for()
    page.get_by_role("button", name="Back to the present").click()
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Really resign?").click()
    page.get_by_role("button", name="Reveal").click()
    page.locator(".panels figure").nth(2).wait_for()
    addresses.append(page.url)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Review").click()
    page.get_by_role("heading", name="Review: Kuhn poker").wait_for()
    addresses.append(page.url)
    assert not [key for key in keys for address in addresses if key in address]
    friend = browser.new_context(base_url=server.url).new_page()
    for address in addresses[:3]:
        friend.goto("about:blank")
        friend.goto(address)
        friend.get_by_role("heading", name="This game needs an invitation").wait_for()
        assert friend.locator(".picture").count() == 0
    friend.context.close()


def test_two_tabs_are_two_seats(page: Any, server: Serving) -> None:
    """Whoever opens an invitation in the browser that sent it plays both seats, one a tab."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    begin(page, "dark_hex", "link")
    page.get_by_role("button", name="Invite").click()
    page.get_by_text("address is copied").wait_for()
    other = page.context.new_page()
    other.goto(page.evaluate("navigator.clipboard.readText()"))
    other.get_by_text("Waiting for the other player").wait_for()
    page.locator('[data-cell="b2"]').click()
    other.get_by_text("Your move").wait_for()
    for tab, seat in ((page, "Black"), (other, "White")):
        tab.reload()
        tab.locator(".who.me", has_text=seat).wait_for()
    assert page.url == other.url


def test_a_person_elsewhere(page: Any, browser: Any, server: Serving) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/")
    page.get_by_label("Game", exact=True).select_option("kuhn")
    page.get_by_label("Against", exact=True).select_option("link")
    page.get_by_text("For people elsewhere start it with nebel serve --host").wait_for()
    page.get_by_label("Your seat").select_option("1")
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Invite").click()
    other = browser.new_context(base_url=server.url).new_page()
    invited = page.evaluate("navigator.clipboard.readText()")
    other.goto(invited)
    other.get_by_text("Your move").wait_for()
    assert other.url != invited  # the key to play does not stay in the address
    other.locator('[data-move="bet"]').click()
    page.locator('[data-move="pass"]').click()
    other.get_by_text("You win").wait_for()
    page.get_by_text("You lose").wait_for()
    other.context.close()


def test_the_token_is_needed_once(browser: Any, tmp_path: Path) -> None:
    serving = Serving(tmp_path, "--token", "open-sesame")
    context = browser.new_context()
    page = context.new_page()
    try:
        page.goto(serving.url.split("?")[0])
        page.get_by_text("this server wants its token").wait_for()
        page.goto(serving.url)
        assert "token" not in page.url
        page.locator(".quick").first.click()
        page.locator(".table.yours .moves button").first.click()
        page.locator(".events li").first.wait_for()
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Share").click()
        page.get_by_text("The address is copied").wait_for()
        guest = browser.new_context().new_page()
        guest.goto(page.evaluate("navigator.clipboard.readText()"))  # it lets guests in, too
        guest.locator(".tag", has_text="watching").wait_for()
        assert "sesame" not in guest.url
        guest.context.close()
    finally:
        context.close()
        serving.stop()


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """A page of another site with a link."""

    link = ""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f'<a href="{self.link}">play</a>'.encode())

    def log_message(self, *_: Any) -> None:
        pass


def test_an_invitation_is_clicked_on_another_site(browser: Any, tmp_path: Path) -> None:
    serving = Serving(tmp_path, "--token", "open-sesame")
    base = serving.url.split("?")[0]
    begun = httpx.post(
        f"{base}api/play", json={"game": "kuhn", "players": ["person", "person"]}, headers={"Authorization": "Bearer open-sesame"}
    )
    game = begun.json()
    link = f"{serving.url}#/play/{game['id']}/{game['seats'][1]['key']}"
    other = http.server.HTTPServer(("localhost", 0), type("Linking", (Elsewhere,), {"link": link}))
    threading.Thread(target=other.serve_forever, daemon=True).start()
    context = browser.new_context()
    page = context.new_page()
    try:
        page.goto(f"http://localhost:{other.server_port}/")
        page.get_by_text("play").click()
        page.locator(".who.me", has_text="you").wait_for()
        for secret in ("sesame", game["seats"][1]["key"], game["seats"][1]["watch"]):
            assert secret not in page.url
        page.reload()
        page.locator(".who.me", has_text="you").wait_for()
        page.goto(f"http://localhost:{other.server_port}/")
        page.get_by_text("play").click()  # again, with the cookie
        page.locator(".who.me", has_text="you").wait_for()
        assert "sesame" not in page.url
    finally:
        context.close()
        other.shutdown()
        other.server_close()
        serving.stop()
