// Look inside: #/look chooses a strategy, #/look/AGENT/GAME a first decision, #/look/AGENT/GAME/MOVES is one; "-" stands for no moves.
import { get } from "../api.js";
import { makeBoard } from "../board.js";
import { el, field, select } from "../dom.js";
import { bars, belief, percent, signed, waiting } from "../look/parts.js";
import { says, seatName, title, variant } from "../play/phrases.js";
import { careful, toast } from "../toast.js";

export const name = "look";
const label = "Look inside";
export { label as title };

const START = "-";

export async function show(host, [agent, game, after], context) {
  if (!agent || !game) return choose(host, context);
  const part = strategy(host, agent, game, context);
  await part.go(after);
  return { move: ([nextAgent, nextGame, next]) => nextAgent === agent && nextGame === game && (part.go(next).catch((error) => toast(error.message, "error")), true) };
}

async function choose(host, context) {
  const [held, games, skipped] = await Promise.all([get("/look/policies"), get("/games"), get("/skipped")]);
  const entry = (one) => el("button", { type: "button", class: "quick", onclick: () => context.go(one.name, one.game) },
    el("strong", { text: title(one.game) }), el("span", { text: variant(one.game) }), el("span", { class: "file", text: one.name }), el("small", { text: `${one.kind === "network" ? "a network" : "a table"}, ${one.recall} recall` }));
  const shelf = held.length ? el("div", { class: "quicks" }, ...held.map(entry)) : el("p", { class: "note", text: "No policies yet: nebel solve leduc writes one into the folder of runs." });
  const left = skipped.length ? el("details", { class: "note" }, el("summary", { text: `${skipped.length} ${skipped.length === 1 ? "file" : "files"} left out` }),
    el("ul", {}, ...skipped.map((one) => el("li", { text: `${one.name}: ${one.why}` })))) : "";

  const which = el("input", { type: "text", value: held[0]?.game ?? "leduc", list: "look-games", "aria-label": "Game", autocomplete: "off", spellcheck: "false" });
  const names = el("datalist", { id: "look-games" }, ...games.map((one) => el("option", { value: one.name })));
  const who = select(["random"], "random");
  const offer = careful(async () => {
    const agents = await get("/agents", { game: which.value });
    who.replaceChildren(...agents.map((one) => el("option", { value: one.text, text: one.text })));
  });
  which.addEventListener("change", offer);
  const form = el("form", { class: "card stack", onsubmit: (event) => (event.preventDefault(), context.go(who.value, which.value)) },
    el("h2", { text: "Any game" }), field("Game", which, "as on the command line, such as dark_hex:3x3"), names, field("Strategy", who), el("button", { class: "main", text: "Look inside" }));
  host.append(el("div", { class: "lobby" }, el("section", {}, el("h1", { text: "Look inside a strategy" }),
    el("p", { class: "note", text: "What it plays in every information state, what that is worth, and what its opponent may hide." }), shelf, left), form));
  await offer();
}

function strategy(host, agent, game, context) {
  const asked = (more) => ({ agent, game, ...more });
  let turn = 0;
  const stage = el("div", { class: "look-stage" });
  const text = el("input", { type: "search", placeholder: "find: what a player did and saw", "aria-label": "Find an information state by its text", spellcheck: "false", autocapitalize: "off" });
  const find = careful(async (event) => {
    event.preventDefault();
    await search(text.value);
  });
  host.append(el("div", { class: "table-head" }, el("h1", { text: title(game) }), el("span", { class: "note", text: variant(game) }), el("span", { class: "tag file", text: agent }),
    el("form", { class: "row find", onsubmit: find }, text, el("button", { text: "Find" })), el("button", { type: "button", text: "From the start", onclick: () => context.go(agent, game) })), stage);

  const at = (after) => context.go(agent, game, after || START);

  async function go(after) {
    const mine = ++turn;
    stage.replaceChildren(waiting("Looking …"));
    try {
      const made = after === undefined ? await first() : await decision(after === START ? "" : after, () => mine === turn);
      if (mine === turn) stage.replaceChildren(made);
    } catch (error) {
      if (mine === turn) stage.replaceChildren(el("p", { class: "empty", role: "alert", text: error.message }));
    }
  }

  async function first() {
    const both = await Promise.all([0, 1].map((player) => get("/look/roots", asked({ player }))));
    return el("div", { class: "panels two" }, ...both.map((found, player) => el("section", { class: "card" }, el("h2", { text: `${seatName(game, player)} decides first` }), ways(found))));
  }

  function ways({ next, complete }) {
    const way = (one) => el("li", {}, el("button", { type: "button", onclick: () => at(one.after) }, el("span", { text: one.text || "nothing yet" }), one.share === null ? null : el("small", { text: ` ${percent(one.share)}` })));
    const rest = complete ? null : el("p", { class: "note", text: "There may be more: find them by what the player did and saw." });
    return el("div", {}, el("ol", { class: "ways" }, ...next.map(way)), rest);
  }

  async function decision(after, current) {
    const now = await get("/look/state", asked({ after }));
    const name = seatName(game, now.player);
    const legal = now.moves.map(({ move }) => move);
    const onward = el("div", {});
    const play = careful(async (move) => {
      const found = await get("/look/next", asked({ after, move }));
      if (!found.next.length) return toast(`After ${says(game, move)} ${name} does not decide again.`);
      if (found.next.length === 1) return at(found.next[0].after);
      onward.replaceChildren(el("section", { class: "card" }, el("h2", { text: `After ${says(game, move)}, ${name} has done and seen` }), ways(found)));
      return onward.scrollIntoView({ block: "nearest" });
    });
    const board = makeBoard({ play, refuse: (cell) => toast(`${cell} is no move here.`) });
    board.show(now.svg, legal, `What ${name} sees:\n${now.view}`);
    const list = el("div", {}, bars(game, now.moves, null, { choose: play }));
    const value = el("p", { class: "note", role: "status", text: "Values are computed …" });
    const hidden = el("div", {}, waiting("What may be hidden is worked out …"));
    get("/look/belief", asked({ after })).then((known) => current() && hidden.replaceChildren(belief(known, game, seatName(game, 1 - now.player))))
      .catch((error) => hidden.replaceChildren(waiting(error.message)));
    get("/look/values", asked({ after })).then((worth) => {
      if (!current()) return;
      list.replaceChildren(bars(game, now.moves, worth, { choose: play }));
      value.textContent = [valued(worth, name), worth.note].join(" ").trim();
    }).catch((error) => (value.textContent = error.message));
    return el("div", { class: "look" },
      el("div", { class: "stack" }, path(now, after), el("section", { class: "card" }, el("h2", { text: `What ${name} plays` }), board.element), onward),
      el("div", { class: "stack" }, el("section", { class: "card" }, el("h2", { text: "Moves" }), now.note ? el("p", { class: "note", text: now.note }) : null, list, value, reach(now, name)), hidden));
  }

  function valued({ value, estimate }, name) {
    if (value !== null) return `Worth ${signed(value)} to ${name} when both go on by this strategy.`;
    if (!estimate) return "";
    const { mean, error, games } = estimate;
    return `Worth about ${signed(mean)} ± ${error ? error.toFixed(3) : "?"} to ${name} when both go on by this strategy: an estimate by ${games.toLocaleString("en")} games, with its 95 % interval.`;
  }

  function reach(now, name) {
    return now.reach === null ? null : el("p", { class: "note reach", text: `Own reach: ${percent(now.reach)} – how often ${name} itself lets it come to this.` });
  }

  function path(now, after) {
    const back = (i) => careful(async () => at((await get("/look/way", asked({ after })))[i]));
    const steps = now.path.map((text, i) => el("li", {}, el("button", { type: "button", class: i === now.path.length - 1 ? "here" : "", text: text || "start", onclick: back(i) })));
    return el("section", { class: "card" }, el("h2", { text: `What ${seatName(game, now.player)} did and saw` }), el("ol", { class: "events" }, ...steps));
  }

  async function search(words) {
    const found = await get("/look/find", asked({ text: words }));
    if (!found.length) return toast(`Nobody is ever to move having done and seen “${words}”.`, "error");
    if (found.length === 1 && found[0].after !== null) return at(found[0].after);
    const row = (one) => el("section", { class: "card" }, el("h2", { text: `${seatName(game, one.player)}: ${one.text}` }),
      one.after !== null ? el("button", { type: "button", text: "Look at it", onclick: () => at(one.after) }) : bars(game, Object.entries(one.moves).map(([move, share]) => ({ move, share })), null));
    turn++;
    return stage.replaceChildren(el("div", { class: "stack" }, ...found.map(row)));
  }

  return { go };
}
