// The truth after the end, between what both players saw, move by move.
import { get } from "../api.js";
import { el, picture, toHere } from "../dom.js";
import { complain } from "../toast.js";
import { says, seatName, sees, title } from "./phrases.js";

// reveal(host, {id, key, at, game}, moved(at), close): `at` is NaN for the end.
export function reveal(host, { id, key, at }, moved, close) {
  const room = el("section", { class: "reveal stack", tabindex: "-1", onkeydown: keys });
  host.firstChild.hidden = true;
  host.append(room);
  let now = null;

  async function go(to) {
    try {
      const found = await get(`/play/${id}/reveal`, { key, at: Math.max(0, to) });
      if (!room.isConnected) return undefined; // left in the meantime
      now = found;
    } catch (error) {
      complain(error);
      return leave();
    }
    moved(now.at);
    draw();
    return undefined;
  }

  function keys(event) {
    if (event.key === "ArrowLeft" && now.at > 0) go(now.at - 1);
    else if (event.key === "ArrowRight" && now.at < now.moves.length) go(now.at + 1);
    else if (event.key === "Escape") leave();
  }

  function leave() {
    room.remove();
    host.firstChild.hidden = false;
    close();
  }

  const told = ({ kind, text }) => (kind === "did" ? says(now.game, text) : sees(now.game, text));
  const who = (by) => (by < 0 ? "Chance" : seatName(now.game, by));

  function draw() {
    const panel = (name, { svg, events }) =>
      el("figure", { class: "card" }, el("figcaption", { text: name }), el("div", { class: "picture" }, picture(svg)),
        events ? el("p", { class: "note seen", text: events.map(told).join(" · ") || "nothing yet" }) : null);
    const item = (move, i) => el("li", {}, el("button", { type: "button", class: i + 1 === now.at ? "here" : "", title: who(move.by), "data-by": move.by, text: move.by < 0 ? move.text : says(now.game, move.text), onclick: () => go(i + 1) }));
    const step = (text, label, to, off) => el("button", { type: "button", "aria-label": label, text, disabled: off, onclick: () => go(to) });
    const last = now.moves.length;
    const steps = el("div", { class: "row steps" }, step("«", "To the start", 0, !now.at), step("‹", "One back", now.at - 1, !now.at), step("›", "One on", now.at + 1, now.at === last), step("»", "To the end", last, now.at === last));
    const made = now.at ? now.moves[now.at - 1] : null;
    room.replaceChildren(
      el("div", { class: "row" }, el("h1", { text: `${title(now.game)}: what was hidden` }), el("button", { type: "button", text: "Back to the game", onclick: leave })),
      el("p", { class: "status", role: "status", text: made ? `Move ${now.at} of ${last}. ${who(made.by)}: ${made.text}` : `The start of ${last} moves` }),
      steps,
      el("div", { class: "panels" }, panel(`What ${seatName(now.game, 0)} saw`, now.seats[0]), panel("The truth", now.truth), panel(`What ${seatName(now.game, 1)} saw`, now.seats[1])),
      el("section", { class: "card" }, el("h2", { text: "All moves" }), el("ol", { class: "events" }, ...now.moves.map(item))),
    );
    toHere(room.querySelector(".events"));
    room.focus({ preventScroll: true });
  }

  go(Number.isNaN(at) ? 1e6 : at);
  return true;
}
