// Where games begin: by one click, by choice, from a record, or where they were left.
import { get, post } from "../api.js";
import { el, field, select } from "../dom.js";
import { careful } from "../toast.js";
import { seatName, short, title } from "./phrases.js";
import { games as heldGames, holdSeats, sitDown } from "./seats.js";

const QUICK = [
  { game: "dark_hex(rows=4,cols=3)", agent: "shipped/board-4x3.nebel", about: "4 × 3, against nearly perfect play" },
  { game: "leduc", agent: "oos:1s", about: "against a search that thinks for a second" },
  { game: "geister(setup=chosen)", agent: "purple:4", about: "you choose the colours, against Purple" },
  { game: "geister", agent: "shipped/geister.nebel", about: "colours are dealt, against a network" },
  { game: "cheat", agent: "heuristic", about: "against one who remembers every card" },
  { game: "liars_dice", agent: "ismcts:1s", about: "against another search" },
];

// Which options are asked for first; the rest is folded away.
const FIRST = { dark_hex: ["rows", "cols", "leak", "abrupt"], geister: ["setup", "width", "height", "ghosts"], goofspiel: ["cards", "order"], cheat: ["ranks", "hand", "hp"], liars_dice: ["dice", "faces"] };
const PREFER = { geister: { setup: "chosen" }, dark_hex: { rows: "4", cols: "3" } };

export async function lobby(host, context) {
  const [games, { local }] = await Promise.all([get("/games"), get("/reach")]);
  // `own`: the one seat to be taken here, where the other is taken elsewhere
  const begin = (game, players, extra = {}, own = null) => post("/play", { game, players, ...extra }).then((begun) => enter(begun, own, context));
  host.append(
    el("div", { class: "lobby" },
      el("section", { class: "stack" }, el("h1", { text: "Play in the fog" }), quick(begin), held(context)),
      el("section", { class: "stack" }, form(games, begin, local), record(context)),
    ),
  );
}

// Sit down: keep the keys of the seats that are played at this screen, and go to the game's address.
function enter(begun, own, context) {
  const mine = begun.seats.filter((seat) => own === null || seat.seat === own);
  holdSeats(begun.id, begun.game, mine, begun.seats.find((seat) => !mine.includes(seat))?.key);
  if (mine.length === 1) sitDown(begun.id, mine[0].seat);
  context.go(begun.id);
}

function quick(begin) {
  const cards = QUICK.map(({ game, agent, about }) =>
    el("button", { type: "button", class: "card quick", onclick: careful(() => begin(game, Math.random() < 0.5 ? ["person", agent] : [agent, "person"])) },
      el("strong", { text: title(game) }), el("span", { text: short(game) }), el("small", { text: about })));
  return el("div", { class: "quicks" }, ...cards);
}

function held(context) {
  const found = heldGames().slice(0, 5);
  if (!found.length) return null;
  const links = found.map((game) => {
    const when = new Date(game.begun).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    return el("li", {}, el("button", { type: "button", class: "quiet", onclick: () => context.go(game.id), text: `${title(game.game)} · ${when}` }));
  });
  return el("div", { class: "card" }, el("h2", { text: "Your games" }), el("ul", { class: "plain" }, ...links));
}

function form(games, begin, local) {
  const options = el("div", { class: "options" });
  const agents = select([], "");
  const custom = el("input", { type: "text", placeholder: "such as oos:10k or purple:50ms", autocomplete: "off", spellcheck: "false", maxlength: "300" });
  const customField = field("Agent", custom);
  const against = select([{ value: "agent", text: "an agent" }, { value: "screen", text: "a person at this screen" }, { value: "link", text: "a person elsewhere, by a link" }], "agent", () => refresh());
  const apart = el("p", { class: "note", text: "This server listens to this machine only. For people elsewhere start it with nebel serve --host 0.0.0.0" });
  const seat = select([], "0");
  const practice = el("input", { type: "checkbox" });
  const practiceRow = el("label", { class: "check" }, practice, el("span", {}, "Practice ", el("small", { text: "moves can always be taken back" })));
  const agentField = field("Which one", agents), seatField = field("Your seat", seat);
  const chosen = select(games.map((game) => ({ value: game.name, text: title(game.name) })), "dark_hex", () => choose());
  const begun = el("button", { class: "main", text: "Begin" });
  let inputs = {};

  const string = () => {
    const given = Object.entries(inputs).map(([name, input]) => [name, input.type === "checkbox" ? String(input.checked) : input.value.trim()]);
    const changed = given.filter(([name, value]) => value !== "" && value !== inputs[name].dataset.normal);
    return changed.length ? `${chosen.value}(${changed.map((pair) => pair.join("=")).join(",")})` : chosen.value;
  };

  function choose() {
    picked = false;
    const game = games.find((one) => one.name === chosen.value);
    inputs = Object.fromEntries(game.options.map((option) => [option.name, optionInput(game.name, option, listAgents)]));
    const shown = (name) => field(name.replaceAll("_", " "), inputs[name]);
    const first = (FIRST[game.name] ?? game.options.map((option) => option.name)).filter((name) => inputs[name]);
    const rest = game.options.map((option) => option.name).filter((name) => !first.includes(name));
    const more = rest.length ? el("details", {}, el("summary", { text: "More options" }), el("div", { class: "grid" }, ...rest.map(shown))) : null;
    options.replaceChildren(el("p", { class: "note", text: game.about }), el("div", { class: "grid" }, ...first.map(shown)), ...(more ? [more] : []));
    seat.replaceChildren(...[0, 1].map((i) => el("option", { value: i, text: `${seatName(game.name, i)}${i ? "" : " (begins)"}` })), el("option", { value: "?", text: "either" }));
    listAgents();
  }

  let asking = 0, picked = false, listed = null; // `listed`: when it is known who can play
  const listAgents = () => (listed = list());
  async function list() {
    const mine = ++asking;
    let found = [];
    try {
      found = await get("/agents", { game: string() });
      options.querySelector(".wrong")?.remove();
    } catch (error) {
      if (mine !== asking) return;
      options.querySelector(".wrong")?.remove();
      options.append(el("p", { class: "wrong", text: error.message }));
    }
    if (mine !== asking) return;
    const before = agents.value;
    agents.replaceChildren(...found.map((agent) => el("option", { value: agent.text, text: `${agent.text} – ${agent.about}` })), el("option", { value: "", text: "another …" }));
    if (picked && (before === "" || found.some((agent) => agent.text === before))) agents.value = before;
    refresh();
  }

  function refresh() {
    agentField.hidden = practiceRow.hidden = against.value !== "agent";
    seatField.hidden = against.value === "screen";
    apart.hidden = against.value !== "link" || !local;
    customField.hidden = against.value !== "agent" || agents.value !== "";
  }
  agents.addEventListener("change", () => {
    picked = true;
    refresh();
  });

  const submit = careful(async (event) => {
    event.preventDefault();
    await listed;
    const other = against.value === "agent" ? agents.value || custom.value.trim() : "person";
    const mine = seat.value === "?" ? Number(Math.random() < 0.5) : Number(seat.value);
    const players = mine ? [other, "person"] : ["person", other];
    await begin(string(), players, { practice: practice.checked && against.value === "agent" }, against.value === "link" ? mine : null);
  });
  const made = el("form", { class: "card stack", onsubmit: submit },
    el("h2", { text: "A new game" }), field("Game", chosen), options, field("Against", against), apart, agentField, customField,
    seatField, practiceRow, begun);
  choose();
  return made;
}

function optionInput(game, option, changed) {
  const value = PREFER[game]?.[option.name] ?? option.default;
  let input;
  if (option.choices.length) input = select(option.choices, value);
  else if (option.kind === "bool") input = el("input", { type: "checkbox", checked: value === "true" });
  else if (option.kind === "int") input = el("input", { type: "number", value: value === "none" ? "" : value, placeholder: value === "none" ? "default" : "" });
  else input = el("input", { type: "text", value: value === "none" ? "" : value });
  input.dataset.normal = option.default;
  input.addEventListener("change", changed);
  return input;
}

function record(context) {
  const file = el("input", { type: "file", accept: ".txt,text/plain" });
  const text = el("textarea", { rows: 4, placeholder: '[Game "leduc"]', spellcheck: "false" });
  const agent = el("input", { type: "text", value: "random", autocomplete: "off" });
  const seat = select([{ value: "0", text: "the first" }, { value: "1", text: "the second" }], "0");
  // A record of the page says who played: its person sits down again, against the same.
  const meet = () => {
    const [, first, second] = /^\[Players "(.*), (.*)"\]$/m.exec(text.value) ?? [];
    if (first === undefined) return;
    seat.value = first === "person" ? "0" : "1";
    agent.value = first === "person" ? second : first;
  };
  text.addEventListener("input", meet);
  file.addEventListener("change", careful(async () => {
    if (file.files[0]) text.value = await file.files[0].text();
    meet();
  }));
  const open = careful(async () => {
    const other = agent.value.trim();
    enter(await post("/play/record", { record: text.value, players: seat.value === "0" ? ["person", other] : [other, "person"] }), null, context);
  });
  return el("details", { class: "card" }, el("summary", { text: "Load a record" }),
    el("div", { class: "stack" }, field("File", file), field("or its text", text), field("You are", seat), field("If it is not finished, you go on against", agent, "an agent, or person: both sit at this screen"),
      el("button", { type: "button", text: "Open", onclick: open })));
}
