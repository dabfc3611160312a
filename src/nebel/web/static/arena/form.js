// A new match: which game, who plays, how many games.
import { get, post } from "../api.js";
import { el, field } from "../dom.js";
import { careful } from "../toast.js";

const SOME = ["dark_hex(rows=3,cols=2)", "dark_hex(rows=4,cols=3)", "kuhn", "leduc", "liars_dice", "goofspiel", "geister", "cheat"];

export async function form(context) {
  const names = (await get("/games")).map((game) => game.name);
  const game = el("input", { type: "text", value: "leduc", list: "arena-games", autocomplete: "off", spellcheck: "false", maxlength: 300 });
  const known = el("datalist", { id: "arena-games" }, ...[...new Set([...SOME, ...names])].map((value) => el("option", { value })));
  const agents = el("div", { class: "agents" });
  const wrong = el("p", { class: "wrong", role: "alert", hidden: true });
  const another = el("input", { type: "text", placeholder: "such as oos:1k or ismcts:500", autocomplete: "off", spellcheck: "false", maxlength: 300, "aria-label": "Another agent" });
  const add = el("button", { type: "button", text: "Add", onclick: () => put(another.value.trim()) });
  const games = el("input", { type: "number", min: 1, max: 1_000_000, value: 1000, required: true });
  const seed = el("input", { type: "number", min: 0, value: 1, required: true });
  let asking = 0, listed = null;

  function put(text) {
    if (!text) return;
    const made = row({ text, about: "", game: null }, true);
    made.classList.add("added");
    agents.append(made);
    another.value = "";
  }

  function row(agent, checked) {
    return el("label", { class: "check" }, el("input", { type: "checkbox", value: agent.text, checked }), el("span", {}, `${agent.text} `, el("small", { text: agent.about })));
  }

  async function list() {
    if (listed === game.value.trim()) return;
    listed = game.value.trim();
    const mine = ++asking;
    let found = [];
    wrong.hidden = true;
    try {
      found = await get("/agents", { game: listed });
    } catch (error) {
      if (mine === asking) [wrong.hidden, wrong.textContent] = [false, error.message];
    }
    if (mine !== asking) return;
    const quick = found.filter((agent) => !agent.text.endsWith(":1s"));
    const added = [...agents.querySelectorAll(".added")];
    agents.replaceChildren(...quick.map((agent) => row(agent, agent.text === "random" || quick.indexOf(agent) === 0)), ...added);
  }

  const submit = careful(async (event) => {
    event.preventDefault();
    const chosen = [...agents.querySelectorAll("input:checked")].map((input) => input.value);
    const match = await post("/arena", { game: game.value.trim(), agents: chosen, games: Number(games.value), seed: Number(seed.value) });
    context.go(match.id);
  });
  game.addEventListener("change", list);
  another.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    put(another.value.trim());
  });
  await list();
  return el("form", { class: "card stack", onsubmit: submit },
    el("h2", { text: "A new match" }), field("Game", game, "with its options, such as dark_hex(rows=3,cols=3)"), known, wrong,
    el("fieldset", {}, el("legend", { text: "Agents" }), agents, el("div", { class: "row another" }, another, add)),
    el("div", { class: "grid" }, field("Games a pair", games), field("Seed", seed)),
    el("button", { class: "main", text: "Start" }));
}
