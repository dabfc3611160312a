// A game at the board: #/play/ID/KEY, with /N the view after N events, with /reveal/N the truth after N moves.
// KEY is the watch key of the seat that is shown: whoever gets the address sees what that seat sees, and cannot move. The key to play
// stays in this browser. Where two people share the screen, the address is #/play/ID alone.
import { get, live } from "../api.js";
import { makeBoard } from "../board.js";
import { download, el, toHere } from "../dom.js";
import { address } from "../router.js";
import { careful, complain, toast } from "../toast.js";
import { aim, says, seatName, sees, title, variant, why } from "./phrases.js";
import { placing } from "./placing.js";
import { reveal } from "./reveal.js";
import { holdSeats, inviteOf, seatsOf } from "./seats.js";

export async function table(host, [id, key, ...rest], context) {
  let seats = seatsOf(id);
  const mine = key ? seats.filter((seat) => seat.watch === key || seat.key === key) : seats;
  if (mine.length) seats = mine;
  else if (key) seats = [{ seat: null, key, watch: key }];
  else throw new Error("This address alone shows nothing of the game: ask for the address of a seat.");
  const shared = seats.length === 2;
  const latest = new Map(); // seat -> its newest position
  let shown = shared ? null : 0; // which of `seats` is looked at; null: the curtain is down
  let browsing = null, revealed = null, down = false, patience = null;

  const status = el("p", { class: "status", role: "status" });
  const head = el("div", { class: "table-head" });
  const board = makeBoard({ play: (move) => act({ do: "move", move }), refuse: (cell, from) => toast(why(position().game, cell, from)) });
  const stage = el("div", { class: "stage" });
  const side = el("aside", { class: "side stack" });
  host.append(el("div", { class: "table" }, head, el("div", { class: "stage-column" }, stage, status), side));

  const position = () => latest.get(shown);
  const sockets = seats.map((seat, i) => live(`/play/${id}/live`, { key: seat.key }, {
    message: (data) => hear(i, data),
    state: (up) => {
      down = !up;
      draw();
    },
    refused: (reason) => host.replaceChildren(el("p", { class: "empty", role: "alert", text: reason })),
  }));

  function hear(i, data) {
    if (data.type === "refused") return complain(new Error(data.error));
    if (data.type !== "position") return undefined;
    const seat = seats[i];
    if (!data.watching && seat.watch !== data.watch) { // somebody was given a seat by a link
      Object.assign(seat, { seat: data.seat, watch: data.watch });
      holdSeats(id, data.game, [...seatsOf(id).filter((one) => one.seat !== data.seat), seat]);
      context.replace(id, data.watch, ...rest);
    }
    latest.set(i, data);
    if (shared && data.over && shown === null) shown = i;
    draw();
    return undefined;
  }

  function act(message) {
    try {
      sockets[shown].send({ ...message, at: message.do === "move" ? position().events.length : undefined });
    } catch (error) {
      complain(error);
    }
  }

  function draw() {
    if (revealed) return;
    if (shared && latest.size < 2) return;
    if (shared && shown === null) return curtain();
    const now = position();
    if (!now) return;
    heading(now);
    const past = browsing;
    host.firstChild.classList.toggle("yours", now.yours);
    status.textContent = past ? `After ${past.events.length} of ${now.events.length} events.` : statusText(now);
    clearTimeout(patience);
    if (!past && !down && !now.over && !now.yours && now.players[1 - now.seat] !== "person")
      patience = setTimeout(() => (status.textContent = `${now.players[1 - now.seat]} is still thinking. (A search is compiled the first time, which takes a while.)`), 4000);
    if (now.placing && !past) stage.replaceChildren(placing(now, (move) => act({ do: "move", move })));
    else {
      if (stage.firstChild !== board.element) stage.replaceChildren(board.element);
      const showing = past ?? now;
      board.show(showing.svg, past || now.watching ? [] : now.legal, `What ${seatName(now.game, now.seat)} sees:\n${showing.view}`, showing.events.at(-1)?.text.match(/[a-z]\d+/g) ?? []);
    }
    side.replaceChildren(...[handOver(now), moves(now), sight(now), actions(now)].filter(Boolean));
    toHere(side.querySelector(".events"));
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
    if (now.over) return now.result.text;
    if (now.yours) return now.placing ? "Choose which of your ghosts are red." : `Your move. ${aim(now.game, now.seat)}`;
    const other = now.players[1 - now.seat];
    return other === "person" ? "Waiting for the other player." : `${other} is thinking …`;
  }

  // Two people at one screen: whoever has moved looks at what came of it, hides the board and hands the device over.
  function handOver(now) {
    const next = shared && !now.over && !now.yours ? latest.get(1 - shown) : null;
    if (!next?.yours) return null;
    const hide = el("button", { type: "button", class: "main", text: "Hide the board", onclick: () => ((shown = null), draw()) });
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
    const list = el("div", { class: "moves" }, ...now.legal.map((move) => el("button", { type: "button", "data-move": move, text: says(now.game, move), onclick: () => act({ do: "move", move }) })));
    const typed = el("input", { type: "text", placeholder: "type a move", "aria-label": "Type a move", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
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
      else if (wanted) toast(fit.length ? `${wanted} could be ${fit.slice(0, 8).join(", ")}.` : why(now.game, wanted), "error");
    };
    return el("section", { class: "card" }, el("h2", { text: "Moves" }), el("form", { onsubmit: go }, typed), list);
  }

  function sight(now) {
    const browse = (count) => careful(async () => {
      browsing = count === null || count >= now.events.length ? null : await get(`/play/${id}/past`, { key: seats[shown].key, events: count });
      if (!shared) context.replace(id, seats[shown].watch, ...(browsing ? [count] : []));
      draw();
    });
    const at = browsing?.events.length ?? now.events.length;
    const items = now.events.map((event, i) => el("li", {}, el("button", { type: "button", class: event.kind + (i + 1 === at ? " here" : ""), title: event.kind === "did" ? "you did" : "you saw", text: event.kind === "did" ? says(now.game, event.text) : sees(now.game, event.text), onclick: browse(i + 1) })));
    const step = (text, label, count, off) => el("button", { type: "button", "aria-label": label, text, disabled: off, onclick: browse(count) });
    const steps = el("div", { class: "row steps" }, step("«", "To the start", 0, at === 0), step("‹", "One back", at - 1, at === 0), step("›", "One on", at + 1, !browsing), step("»", "To now", null, !browsing));
    const empty = now.events.length ? null : el("p", { class: "note", text: "Nothing yet." });
    return el("section", { class: "card" }, el("h2", { text: "What you did and saw" }), empty, el("ol", { class: "events" }, ...items), now.events.length ? steps : null);
  }

  function actions(now) {
    const buttons = [];
    const button = (text, onclick, more = {}) => buttons.push(el("button", { type: "button", text, onclick, ...more }));
    if (!now.watching) button("Undo", () => (now.undo.allowed ? act({ do: "undo" }) : toast(now.undo.why)), now.undo.allowed ? {} : { class: "off", title: now.undo.why });
    if (!now.over && !now.watching) button("Resign", () => confirmed(buttons, "Resign") && act({ do: "resign" }));
    if (now.over) button("Reveal", openReveal, { class: "main" });
    if (now.over) button("Review", () => (location.hash = address("review", id, seats[shown].watch)), { title: "Your moves beside a strategy's" });
    if (now.over) button("Record", careful(async () => download(`${id}.txt`, await get(`/play/${id}/record`, { key: seats[shown].key }))));
    button("Share", careful(share), { title: "Copies an address that shows what you see, and cannot move" });
    const invite = now.over ? null : inviteOf(id);
    if (invite) button("Invite", careful(async () => copy(await outside(invite), "The other player's address is copied: it sits down and plays.")));
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
      (at) => context.replace(id, seats[shown ?? 0].watch, "reveal", at), close);
  }

  function close() {
    revealed = null;
    context.go(id, ...(shared ? [] : [seats[shown].watch]));
  }

  async function arrive() {
    if (rest[0] === "reveal") openReveal();
    else if (/^\d+$/.test(rest[0] ?? "") && !shared) {
      browsing = await get(`/play/${id}/past`, { key: seats[0].key, events: Number(rest[0]) });
      draw();
    }
  }
  arrive().catch(complain);

  return { leave: () => (clearTimeout(patience), sockets.forEach((socket) => socket.close())) };
}
