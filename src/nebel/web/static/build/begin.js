// A strategy begins: with an empty board or one in the middle of a game, with one that comes with nebel, or with a file.
import { get, post } from "../api.js";
import { el, field, select } from "../dom.js";
import { kept } from "../keep.js";
import { careful } from "../toast.js";

export async function begin(host, open) {
  const number = (value) => el("input", { type: "number", min: 1, max: 30, value, required: true });
  const rows = number(3), cols = number(2);
  const player = select([{ value: "black", text: "Black: top to bottom, begins" }, { value: "white", text: "White: left to right" }], "black");
  const rules = select([{ value: "classic", text: "classic: after a collision, try again" }, { value: "abrupt", text: "abrupt: a collision ends the turn" }], "classic");
  const recall = select([{ value: "board", text: "the stones on the board" }, { value: "perfect", text: "the order of moves, too" }], "board");
  const board = el("input", { type: "text", maxlength: 200, placeholder: "empty", spellcheck: "false", autocapitalize: "off", autocomplete: "off" });
  const mirror = el("input", { type: "checkbox" });
  const submit = careful(async (event) => {
    event.preventDefault();
    open(await post("/build/new", {
      rows: Number(rows.value), cols: Number(cols.value), player: player.value, abrupt: rules.value === "abrupt",
      recall: recall.value, isomorphic: mirror.checked, board: board.value.trim(),
    }));
  });
  const form = el("form", { class: "card stack", onsubmit: submit },
    el("h2", { text: "A new strategy" }),
    el("div", { class: "grid" }, field("Rows", rows), field("Columns", cols)),
    field("Player", player), field("Rules", rules), field("It remembers", recall),
    field("Initial board", board, "own stones x, discovered ones o, row by row, such as x./o./..; then hidden 1 or turn white where needed"),
    el("label", { class: "check" }, mirror, el("span", {}, "Answer the turned board along ", el("small", { text: "each answer also holds on the board turned by 180 degrees" }))),
    el("button", { class: "main", text: "Begin" }));

  const file = el("input", { type: "file", accept: ".dhs,.json,.txt" });
  file.addEventListener("change", careful(async () => {
    const text = await file.files[0]?.text();
    file.value = "";
    if (text !== undefined) open(await read(text, recall.value));
  }));
  const before = kept("build-before");
  const back = el("button", { type: "button", text: "The one before", onclick: careful(async () => open(await post("/build/show", { work: JSON.parse(before) }))) });
  const names = await get("/build/shipped");
  const shipped = names.map((name) => el("button", { type: "button", text: name, onclick: careful(async () => open(await post("/build/read", { shipped: name, recall: "perfect" }))) }));
  host.replaceChildren(el("div", { class: "lobby" },
    el("section", { class: "stack" }, el("h1", { text: "Build a strategy" }),
      el("p", { text: "You are asked what to play in each position that your strategy can come to in Dark Hex, one after the other, until none is open. Click a cell, or several and give each its share. At any time you see how often the strategy wins at least, whatever the other player does." }),
      el("div", { class: "card stack" }, el("h2", { text: "Go on with one" }), field("A file: notation (.dhs) or unfinished work (.build.json)", file),
        before ? el("div", { class: "row" }, el("span", { class: "note", text: "In this browser:" }), back) : null,
        names.length ? el("div", { class: "row" }, el("span", { class: "note", text: "Of the thesis:" }), ...shipped) : null)),
    form));
}

// A file's text: unfinished work is JSON, notation is not.
export async function read(text, recall) {
  if (!text.trimStart().startsWith("{")) return post("/build/read", { text, recall });
  let work;
  try {
    work = JSON.parse(text);
  } catch {
    throw new Error("The file is neither notation nor unfinished work.");
  }
  return post("/build/show", { work });
}
