// Where a strategy is built. The work itself goes to the server and comes back with each step; this browser keeps the last one.
import { post } from "../api.js";
import { makeBoard } from "../board.js";
import { download, el, field } from "../dom.js";
import { keep } from "../keep.js";
import { title, variant, why } from "../play/phrases.js";
import { careful, toast } from "../toast.js";
import { guarantee } from "./guarantee.js";
import { notation } from "./notation.js";
import { shares } from "./shares.js";

const NAMES = { black: "Black", white: "White" };

export function desk(first, leave) {
  let view = first, turn = 0;
  const head = el("h1", { text: `${title(view.title)} ${variant(view.title)} · ${NAMES[view.player]}` });
  const from = el("span", { class: "tag", text: view.board ? `from ${view.board}` : "", hidden: !view.board });
  const counts = el("span", { class: "tag counts" });
  const where = el("p", { class: "where" });
  const hidden = el("p", { class: "note" });
  const chosen = shares();
  const board = makeBoard({ play: (cell) => toggle(cell), refuse: (cell) => toast(why("dark_hex", cell, board.cells())) });
  const answer = el("button", { type: "button", class: "main answer", onclick: careful(() => step("/build/answer", { shares: chosen.text() })) });
  const any = el("button", { type: "button", text: "! any move from here on", onclick: careful(() => complete(false)) });
  const reopen = el("button", { type: "button", text: "? leave it open", onclick: careful(() => step("/build/answer", { shares: "?" })) });
  const later = el("button", { type: "button", text: "Later", onclick: careful(skip) });
  const undo = el("button", { type: "button", text: "Undo", onclick: careful(() => step("/build/undo", {})) });
  const seed = el("input", { type: "number", min: 0, step: 1, placeholder: "none" });
  const rest = el("button", { type: "button", text: "Complete all that is open", onclick: careful(() => complete(true)) });
  const mirror = el("input", { type: "checkbox", onchange: careful(() => step("/build/mirror", { isomorphic: mirror.checked })) });
  const judged = guarantee(() => view);
  const text = notation(write);
  const search = el("input", { type: "search", placeholder: "b2, x.o or taken", "aria-label": "Find an information state", oninput: careful(find) });
  const list = el("ul", { class: "plain states" });
  const done = el("div", { class: "done" }, el("h2", { text: "Complete" }), el("p", { text: "Every information state that the strategy can come to is answered. Choose one in the list to look at it or to change it." }));
  const asked = el("div", { class: "stack asked" }, el("div", {}, where, hidden), board.element, chosen.element, el("div", { class: "row" }, answer, any, reopen, later));
  chosen.changed = showChosen;

  async function step(path, more) {
    const mine = ++turn;
    const made = await post(path, { work: view.work, at: view.state?.name ?? "", ...more });
    if (mine !== turn) return;
    show(made);
  }

  // What is wrong with the text, or undefined if it is the strategy now.
  async function write(written) {
    const mine = ++turn;
    const found = await post("/build/notation", { work: view.work, text: written });
    if (mine !== turn) return undefined;
    if (found.view) show(found.view, true);
    return found.view ? undefined : found;
  }

  function complete(everything) {
    const drawn = seed.value === "" ? null : Number(seed.value);
    return step("/build/complete", { everything, seed: drawn });
  }

  function skip() {
    const at = view.waiting.findIndex((line) => line.name === view.state?.name);
    const next = view.waiting[(at + 1) % view.waiting.length];
    return go(next.name);
  }

  const go = (name) => step("/build/show", { at: name });

  function toggle(cell) {
    chosen.toggle(cell);
  }

  function showChosen() {
    chosen.mark(board.element);
    const text = chosen.text();
    answer.disabled = !text;
    answer.textContent = text ? `Play ${text.replaceAll(":", " ")}` : "Click what to play";
  }

  async function find() {
    if (!search.value && view.open) return showList(view.waiting, "open", true);
    const mine = turn, found = await post("/build/find", { work: view.work, text: search.value });
    if (mine === turn) showList(found, "found", false);
  }

  function showList(lines, what, open) {
    const items = lines.map((line) => {
      const here = line.name === view.state?.name;
      return el("li", {}, el("button", { type: "button", class: here ? "quiet here" : "quiet", text: open ? `${line.name}  ${line.text}` : line.text, onclick: careful(() => go(line.name)) }));
    });
    list.replaceChildren(...(items.length ? items : [el("li", { class: "note", text: open ? "None is open." : "None found." })]));
    list.setAttribute("aria-label", what);
  }

  function show(made, typed = false) {
    view = made;
    keep("build", JSON.stringify(view.work));
    const { state } = view;
    head.textContent = `${title(view.title)} ${variant(view.title)} · ${NAMES[view.player]}`;
    from.textContent = view.board ? `from ${view.board}` : "";
    from.hidden = fill.hidden = !view.board;
    counts.textContent = `${view.answered.toLocaleString()} answered, ${view.open.toLocaleString()} open`;
    counts.classList.toggle("complete", !view.open);
    undo.disabled = !view.steps;
    rest.disabled = later.disabled = !view.open;
    mirror.checked = view.isomorphic;
    asked.hidden = !state;
    done.hidden = Boolean(state);
    if (state) showState(state);
    text.show(view, typed);
    judged.show();
    search.value = "";
    careful(find)();
    policy.disabled = Boolean(view.open);
    policy.title = view.open ? "when all is answered" : "";
    dhs.disabled = view.notation === null;
  }

  function showState(state) {
    const other = NAMES[view.player === "black" ? "white" : "black"];
    const [low, high] = state.hidden;
    where.textContent = `${state.way[0].toUpperCase()}${state.way.slice(1)}`;
    const told = state.answer === null ? "" : state.answer === "!" ? " · the answer is any move (!)" : ` · the answer is ${state.answer}`;
    hidden.textContent = `${low === high ? low : `${low} to ${high}`} hidden ${other} ${high === 1 ? "stone" : "stones"}${told}`;
    reopen.hidden = state.answer === null;
    later.hidden = state.answer !== null;
    board.show(state.svg, state.free, `What ${NAMES[view.player]} knows`);
    chosen.begin(state.answer === "!" ? {} : state.shares);
  }

  const file = () => `${view.player}-${variant(view.title).replaceAll(" ", "").replace("×", "x").replaceAll(",", "-")}`;
  const dhs = el("button", { type: "button", text: "Notation (.dhs)", onclick: () => download(`${file()}.dhs`, view.notation) });
  const policy = el("button", { type: "button", text: "Policy (.nebel)", onclick: careful(savePolicy) });
  const unfinished = el("button", { type: "button", text: "Work (.build.json)", onclick: () => download(`${file()}.build.json`, JSON.stringify(view.work, null, 1)) });

  async function savePolicy() {
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ work: view.work, before: view.board && everywhere.checked ? "uniform" : "" }) };
    const response = await fetch("/api/build/policy", options);
    if (!response.ok) throw new Error((await response.json()).error);
    const link = el("a", { href: URL.createObjectURL(await response.blob()), download: `${file()}.nebel` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  const everywhere = el("input", { type: "checkbox" });
  const fill = el("label", { class: "check", hidden: true }, everywhere, el("span", {}, "The policy plays any move where this board does not lead ", el("small", { text: "without this it has no answer there, and a match from the start of the game is refused" })));
  const fresh = el("button", { type: "button", class: "quiet", text: "New strategy", onclick: () => {
    keep("build", null);
    keep("build-before", JSON.stringify(view.work)); // begin.js offers to go back to it
    leave();
  } });
  const made = el("div", { class: "desk" },
    el("header", { class: "row desk-head" }, head, from, counts, undo, fresh),
    el("section", { class: "card stack" }, asked, done,
      el("details", {}, el("summary", { text: "Random completion and mirror" }),
        el("div", { class: "stack" },
          field("Seed", seed, "with a seed, one move a state is drawn beforehand; without, any move will be played (!)"),
          el("div", { class: "row" }, rest),
          el("label", { class: "check" }, mirror, el("span", { text: "Answer the turned board along" }))))),
    el("section", { class: "stack" },
      judged.element,
      text.element,
      el("div", { class: "card stack" }, el("h2", { text: "Information states" }), search, list),
      el("div", { class: "card" }, el("h2", { text: "Save" }), el("div", { class: "row" }, dhs, policy, unfinished), fill)));
  show(view);
  return made;
}
