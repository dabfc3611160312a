// A game at the board: #/play/ID, with /N the view after N events, with /reveal/N the truth after N moves. The keys of the seats that are
// played here stay in this browser, so that the address shows nobody else a hand. #/play/ID/KEY comes from Invite, and sits down, or
// from Share: a watch key stays in the address, shows what its seat sees, and cannot move.
import { get, live } from "../api.js";
import { makeBoard } from "../board.js";
import { download, el, toHere } from "../dom.js";
import { address } from "../router.js";
import { careful, complain, toast } from "../toast.js";
import { aim, says, seatName, sees, title, variant, why } from "./phrases.js";
import { placing } from "./placing.js";
import { reveal } from "./reveal.js";
import { holdSeats, inviteOf, seatsHere, seatsOf, sitDown } from "./seats.js";

const isKey = (part) => Boolean(part) && part !== "reveal" && !/^\d{1,6}$/.test(part);

export async function table(host, [id, ...path], context) {
  const key = isKey(path[0]) ? path[0] : null, rest = key ? path.slice(1) : path;
  const own = key ? seatsOf(id).filter((seat) => seat.watch === key || seat.key === key) : seatsHere(id);
  const seats = own.length || !key ? own : [{ seat: null, key, watch: key }];
  if (!seats.length) return uninvited(host, context);
  let guest = !own.length; // whoever looks on keeps the key in the address
  const readdress = (...more) => context.replace(id, ...(guest ? [key] : []), ...more);
  if (key && !guest) {
    sitDown(id, own[0].seat);
    readdress(...rest);
  }
  const shared = seats.length === 2;
  const latest = new Map(); // seat -> its newest position
  let shown = shared ? null : 0; // which of `seats` is looked at; null: the curtain is down
  let browsing = null, wanted = null; // what is looked back at, and after how many events; null: now
  let revealed = null, down = false, patience = null, left = false;
  let sent = 0, waiting = null; // messages, and the one that has no answer yet
  let focus = null; // what had the focus in the column beside the board

  const status = el("p", { class: "status", role: "status" });
  const head = el("div", { class: "table-head" });
  const board = makeBoard({ play: (move) => act({ do: "move", move }), refuse: (move) => toast(why(position().game, move, board.cells())) });
  const stage = el("div", { class: "stage" });
  const side = el("aside", { class: "side stack" });
  host.append(el("div", { class: "table" }, head, el("div", { class: "stage-column" }, stage, status), side));

  const position = () => latest.get(shown);
  const sockets = seats.map((seat, i) => live(`/play/${id}/live`, { key: seat.key }, {
    message: (data) => hear(i, data),
    state: (up) => {
      down = !up;
      waiting = null;
      draw();
    },
    refused: (reason) => host.replaceChildren(el("p", { class: "empty", role: "alert", text: reason })),
  }));

  function hear(i, data) {
    if (data.ref !== undefined && data.ref === waiting) waiting = null;
    if (data.type === "refused") return complain(new Error(data.error));
    if (data.type !== "position") return undefined;
    const seat = seats[i];
    if (!data.watching && seat.watch !== data.watch) { // invited: the key to play has left the address when this is done
      Object.assign(seat, { seat: data.seat, watch: data.watch });
      holdSeats(id, data.game, [...seatsOf(id).filter((one) => one.seat !== data.seat), seat]);
      sitDown(id, data.seat);
      guest = false;
      readdress(...rest);
    }
    latest.set(i, data);
    if (shared && data.over && shown === null) shown = i;
    if (browsing && i === shown && browsing.events.length >= data.events.length) toNow(); // moves were taken back
    draw();
    return undefined;
  }

  // Moves are made now, whatever was looked at, and one at a time.
  function act(message) {
    if (waiting !== null) return;
    try {
      sockets[shown].send({ ...message, ref: sent + 1, at: message.do === "move" ? position().events.length : undefined });
    } catch (error) {
      return void complain(error);
    }
    waiting = ++sent;
    if (browsing) {
      toNow();
      draw();
    }
  }

  function draw() {
    if (revealed) return;
    if (shared && latest.size < 2) return;
    if (shared && shown === null) return curtain();
    const now = position();
    if (!now) return;
    heading(now);
    const past = browsing, mine = now.yours && !now.watching;
    host.firstChild.classList.toggle("yours", mine);
    document.title = `${now.over ? "Game over" : mine ? "Your turn" : title(now.game)} – nebel`;
    status.textContent = past ? `After ${past.events.length} of ${now.events.length} events.${mine ? " It is your move." : ""}` : statusText(now);
    clearTimeout(patience);
    if (!past && !down && !now.over && !now.yours && now.players[1 - now.seat] !== "person")
      patience = setTimeout(() => (status.textContent = `${now.players[1 - now.seat]} is still thinking. (A search is compiled the first time, which takes a while.)`), 4000);
    if (now.placing && !past && !now.watching) stage.replaceChildren(placing(now, (move) => act({ do: "move", move })));
    else {
      if (stage.firstChild !== board.element) stage.replaceChildren(board.element);
      const showing = past ?? now;
      board.show(showing.svg, past || now.watching ? [] : now.legal, `What ${seatName(now.game, now.seat)} sees:\n${showing.view}`, showing.events.at(-1)?.text.match(/[a-z]\d+/g) ?? []);
    }
    focus = focused() ?? focus;
    side.replaceChildren(...[handOver(now), invitation(now), moves(now), sight(now), actions(now)].filter(Boolean));
    toHere(side.querySelector(".events"));
    refocus();
  }

  // Everything beside the board is drawn anew: the focus goes back to where it was, or waits there for the next turn.
  const focusable = () => [...side.querySelectorAll("input, button")].filter((one) => !one.disabled && !one.hidden);
  const nameOf = (one) => one.getAttribute("aria-label") ?? one.dataset.move ?? one.textContent;

  function focused() {
    const one = document.activeElement;
    if (one !== document.body && !side.contains(one)) focus = null;
    return side.contains(one) ? { name: nameOf(one), panel: one.closest(".card")?.dataset.panel } : null;
  }

  function refocus() {
    if (!focus) return;
    const there = focusable().filter((one) => one.closest(".card")?.dataset.panel === focus.panel);
    const again = there.find((one) => nameOf(one) === focus.name) ?? (focus.panel ? there.find((one) => one.tagName === "BUTTON") : null);
    again?.focus({ preventScroll: true });
  }

  function heading(now) {
    const who = now.players.map((player, seat) =>
      el("span", { class: seat === now.seat ? "who me" : "who" }, el("strong", { text: seatName(now.game, seat) }),
        ` ${seat === now.seat ? (now.watching ? "watched" : "you") : player === "person" ? "a person" : player}`));
    head.replaceChildren(el("h1", { text: title(now.game) }), el("span", { class: "note", text: variant(now.game) }), el("div", { class: "whos" }, ...who));
    if (now.practice) head.append(el("span", { class: "tag", text: "practice" }));
    if (now.watching) head.append(el("span", { class: "tag", text: "watching" }));
  }

  function statusText(now) {
    if (down) return "The connection is down; it is being picked up again.";
    if (now.over) return now.watching ? ending(now) : now.result.text;
    if (now.watching) return `${seatName(now.game, now.yours ? now.seat : 1 - now.seat)} is to move.`;
    if (now.yours) return now.placing ? "Choose which of your ghosts are red." : `Your move. ${aim(now.game, now.seat)}`;
    const other = now.players[1 - now.seat];
    return other === "person" ? "Waiting for the other player." : `${other} is thinking …`;
  }

  // Two people at one screen: whoever has moved looks at what came of it, hides the board and hands the device over.
  function handOver(now) {
    const next = shared && !now.over && !now.yours ? latest.get(1 - shown) : null;
    if (!next?.yours) return null;
    const hide = el("button", { type: "button", class: "main", text: "Hide the board", onclick: () => (toNow(), (shown = null), draw()) });
    return el("div", { class: "card hand-over" }, el("p", { text: `${seatName(now.game, next.seat)} is next: hide the board, then pass the device.` }), hide);
  }

  function curtain() {
    const next = [...latest.entries()].find(([, one]) => one.yours) ?? [0, latest.get(0)];
    heading({ ...next[1], seat: null });
    const name = seatName(next[1].game, next[1].seat);
    const open = el("button", { type: "button", class: "main", text: `I am ${name}: show my board`, onclick: () => ((shown = next[0]), draw()) });
    stage.replaceChildren(el("div", { class: "curtain" }, el("h2", { text: `${name}'s turn` }), el("p", { text: "The board is hidden until the right person looks." }), open));
    status.textContent = "";
    side.replaceChildren();
    open.focus();
  }

  function moves(now) {
    if (!now.yours || now.watching || now.placing) return null;
    const list = el("div", { class: "moves" }, ...now.legal.map((move) => el("button", { type: "button", "data-move": move, text: says(now.game, move), disabled: Boolean(browsing), onclick: (event) => event.detail < 2 && act({ do: "move", move }) })));
    const typed = el("input", { type: "text", disabled: Boolean(browsing), placeholder: "type a move", "aria-label": "Type a move", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    const fitting = () => now.legal.filter((move) => move.toLowerCase().startsWith(typed.value.trim().toLowerCase()));
    typed.addEventListener("input", () => {
      const fit = new Set(fitting());
      for (const button of list.children) button.hidden = !fit.has(button.dataset.move);
    });
    const go = (event) => {
      event.preventDefault();
      const wanted = typed.value.trim();
      const fit = fitting();
      const exact = now.legal.find((move) => move === wanted) ?? (fit.length === 1 ? fit[0] : null);
      if (exact) act({ do: "move", move: exact });
      else if (wanted) toast(fit.length ? `${wanted} could be ${fit.slice(0, 8).join(", ")}.` : why(now.game, wanted, board.cells()), "error");
    };
    const back = browsing ? el("button", { type: "button", class: "main", text: "Back to the present", onclick: () => browse(null) }) : null;
    return el("section", { class: "card", "data-panel": "moves" }, el("h2", { text: "Moves" }), back, el("form", { onsubmit: go }, typed), list);
  }

  function sight(now) {
    const at = browsing?.events.length ?? now.events.length;
    const items = now.events.map((event, i) => el("li", {}, el("button", { type: "button", class: event.kind + (i + 1 === at ? " here" : ""), title: event.kind === "did" ? "you did" : "you saw", text: event.kind === "did" ? says(now.game, event.text) : sees(now.game, event.text), onclick: () => browse(now.stops.find((stop) => stop > i)) })));
    const button = (text, label, off, onclick) => el("button", { type: "button", "aria-label": label, text, disabled: off, onclick });
    const steps = el("div", { class: "row steps" }, button("«", "To the start", at === 0, () => browse(0)), button("‹", "One back", at === 0, () => step(-1)), button("›", "One on", !browsing, () => step(1)), button("»", "To now", !browsing, () => browse(null)));
    const empty = now.events.length ? null : el("p", { class: "note", text: "Nothing yet." });
    const head = now.watching ? `What ${seatName(now.game, now.seat)} did and saw` : "What you did and saw";
    return el("section", { class: "card", "data-panel": "sight" }, el("h2", { text: head }), empty, el("ol", { class: "events" }, ...items), now.events.length ? steps : null);
  }

  function toNow() {
    browsing = wanted = null;
    if (!shared && !revealed) readdress();
  }

  // Show what was seen after `count` events; null: now. Only the last one asked for is shown.
  const browse = careful(async (count) => {
    wanted = count === null || count >= position().events.length ? null : count;
    if (wanted === null) return void (toNow(), draw());
    const found = await get(`/play/${id}/past`, { key: seats[shown].key, events: wanted });
    if (left || revealed || wanted !== count || found.events.length >= position()?.events.length) return;
    browsing = found;
    if (!shared) readdress(found.events.length);
    draw();
  });

  function step(by) {
    const { events, stops } = position(), at = wanted ?? events.length;
    const to = by < 0 ? stops.findLast((stop) => stop < at) : stops.find((stop) => stop > at);
    if (to !== undefined) browse(to);
  }

  function keys(event) {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const busy = event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest?.("input, textarea, select");
    if (way && !busy && !revealed && position()) step(way);
  }
  document.addEventListener("keydown", keys);
  host.addEventListener("pointerdown", () => (focus = null));

  // For the seat of the other person, as long as it can be taken.
  function invitation(now) {
    const key = now.over || now.watching ? null : inviteOf(id);
    if (!key) return null;
    const invite = careful(async () => copy(await outside(key), "The other player's address is copied: it sits down and plays."));
    return el("section", { class: "card" }, el("h2", { text: "The other player" }), el("p", { class: "note", text: "The address of this page does not let anybody in. Send the other player an invitation; it is for one person only." }),
      el("button", { type: "button", class: "main", text: "Invite", title: "Copies the address of the other seat", onclick: invite }));
  }

  function actions(now) {
    const buttons = [];
    const button = (text, onclick, more = {}) => buttons.push(el("button", { type: "button", text, onclick, ...more }));
    if (!now.watching) button("Undo", () => (now.undo.allowed ? act({ do: "undo" }) : toast(now.undo.why)), now.undo.allowed ? {} : { class: "off", title: now.undo.why });
    if (!now.over && !now.watching) button("Resign", () => confirmed(buttons, "Resign") && act({ do: "resign" }));
    if (now.over) button("Reveal", openReveal, { class: "main" });
    if (now.over) button("Review", () => (location.hash = address("review", id, guest ? key : seats[shown].seat)), { title: "Your moves beside a strategy's" });
    if (now.over) button("Record", careful(async () => download(`${id}.txt`, await get(`/play/${id}/record`, { key: seats[shown].key }))));
    button("Share", careful(share), { title: "Copies an address that shows what you see, and cannot move" });
    button("New game", () => context.go());
    return el("div", { class: "row actions" }, ...buttons);
  }

  function confirmed(buttons, text) {
    const button = buttons.find((one) => one.textContent === text);
    if (!button) return true;
    button.textContent = "Really resign?";
    return false;
  }

  // The address of a seat for people elsewhere: it lets them in, too, where the server wants a token.
  async function outside(key) {
    const { token } = await get("/reach");
    return `${location.origin}/${token ? `?token=${encodeURIComponent(token)}` : ""}${address("play", id, key)}`;
  }

  async function share() {
    await copy(await outside(seats[shown].watch), "The address is copied: it shows what you see, and cannot move.");
  }

  async function copy(text, said) {
    try {
      await navigator.clipboard.writeText(text);
      toast(said);
    } catch {
      prompt(said.replace("is copied", "to copy"), text);
    }
  }

  function openReveal() {
    revealed = reveal(host, { id, key: seats[shown ?? 0].key, at: Number(rest[0] === "reveal" ? rest[1] : NaN) },
      (at) => readdress("reveal", at), close);
  }

  function close() {
    revealed = null;
    context.go(id, ...(guest ? [key] : []));
  }

  async function arrive() {
    if (rest[0] === "reveal") openReveal();
    else if (/^\d+$/.test(rest[0] ?? "") && !shared) {
      const found = await get(`/play/${id}/past`, { key: seats[0].key, events: Number(rest[0]) });
      if (left || found.events.length >= (position()?.events.length ?? Infinity)) return;
      browsing = found;
      wanted = found.events.length;
      readdress(wanted);
      draw();
    }
  }
  arrive().catch(complain);

  return {
    leave() {
      left = true;
      clearTimeout(patience);
      document.removeEventListener("keydown", keys);
      sockets.forEach((socket) => socket.close());
    },
  };
}

// How the game ended, for whoever only looks on.
function ending({ game, seat, result }) {
  if (result.by === "resigned") return `${seatName(game, result.who)} resigned.`;
  if (result.by !== "rules" || !result.score) return result.text;
  return `${seatName(game, seat)} ${result.score > 0 ? "wins" : "loses"}: ${result.score > 0 ? "+" : ""}${result.score}.`;
}

function uninvited(host, context) {
  host.append(el("section", { class: "card stack" }, el("h1", { text: "This game needs an invitation" }),
    el("p", { text: "The address does not say for which seat, so it shows nothing of the game. Ask whoever sent it to press Invite beside the board, and to send you the address that this copies. Share copies one for looking on." }),
    el("div", { class: "row" }, el("button", { type: "button", class: "main", text: "To all games", onclick: () => context.go() }))));
  return undefined;
}
