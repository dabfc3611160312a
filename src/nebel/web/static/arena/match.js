// A match as it goes: the cross table as a heat map, ratings with their intervals, all pairs.
import { get, post } from "../api.js";
import { el } from "../dom.js";
import { title, variant } from "../play/phrases.js";
import { careful } from "../toast.js";

const EVERY = 700; // ms
const WORDS = { waiting: "waits for its turn", playing: "", stopped: "stopped", failed: "failed", done: "finished" };

export async function match(host, id, context) {
  const status = el("p", { class: "note", role: "status" });
  const bar = el("div", { class: "bar" }, el("div"));
  const stop = el("button", { type: "button", text: "Stop", onclick: careful(async () => show(await post(`/arena/${id}/stop`))) });
  const again = el("button", { type: "button", class: "quiet", text: "All matches", onclick: () => context.go() });
  const drop = el("button", { type: "button", class: "quiet", text: "Forget it", onclick: careful(async () => {
    await post(`/arena/${id}/drop`);
    context.go();
  }) });
  const body = el("div", { class: "stack" });
  let timer = null, left = false;

  function show(told) {
    const now = told.now ? `${told.now.join(" against ")}: ${told.played.toLocaleString()} of ${told.games.toLocaleString()} games` : WORDS[told.stage];
    status.textContent = told.reason ? `${now}: ${told.reason}` : now;
    bar.firstChild.style.width = `${100 * told.share}%`;
    const over = !["waiting", "playing"].includes(told.stage);
    stop.hidden = over;
    drop.hidden = !over;
    bar.hidden = told.stage === "done";
    body.replaceChildren(crossTable(told), ...(told.ratings.length ? [ratings(told), pairs(told)] : []));
    return over;
  }

  async function poll() {
    try {
      if (show(await get(`/arena/${id}`)) || left) return;
    } catch (error) {
      status.textContent = error.message;
      if (error.status === 404) return;
    }
    if (!left) timer = setTimeout(poll, EVERY);
  }

  const first = await get(`/arena/${id}`);
  host.append(el("div", { class: "stack match" },
    el("header", { class: "row" }, el("h1", { text: `${title(first.game)} ${variant(first.game)}` }), stop, drop, again),
    el("p", { class: "note", text: `${first.games.toLocaleString()} games a pair, half in each seat; seed ${first.seed}` }), status, bar, body));
  await poll();
  return {
    leave() {
      left = true;
      clearTimeout(timer);
    },
  };
}

const signed = (x, digits = 3) => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(digits)}`;

// What the row's agent scores against the column's.
function crossTable(told) {
  const cells = new Map();
  for (const pair of told.pairs) {
    cells.set(`${pair.a}\n${pair.b}`, { ...pair, sign: 1 });
    cells.set(`${pair.b}\n${pair.a}`, { ...pair, sign: -1 });
  }
  const most = Math.max(1e-9, ...told.pairs.map((pair) => Math.abs(pair.score)));
  const playing = (row, column) => told.now && told.now.includes(row) && told.now.includes(column) && row !== column;
  const field = (row, column) => {
    const pair = cells.get(`${row}\n${column}`);
    if (!pair) return el("td", { class: row === column ? "self" : playing(row, column) ? "now" : "", text: playing(row, column) ? "…" : "" });
    const score = pair.sign * pair.score, exact = pair.exact === null ? "" : `exactly ${signed(pair.sign * pair.exact, 4)}`;
    const reach = pair.interval ? `±${((pair.interval[1] - pair.interval[0]) / 2).toFixed(3)}` : "";
    const [wins, losses] = pair.sign > 0 ? [pair.wins, pair.losses] : [pair.losses, pair.wins];
    const made = el("td", { class: "filled", title: `${row} against ${column}: ${wins} wins, ${pair.draws} draws, ${losses} losses` },
      el("strong", { text: signed(score) }), el("small", { text: reach }), exact ? el("small", { class: "exact", text: exact }) : null);
    const tone = score >= 0 ? "var(--good)" : "var(--bad)";
    made.style.background = `color-mix(in srgb, ${tone} ${Math.round((55 * Math.abs(score)) / most)}%, var(--paper))`;
    return made;
  };
  const head = el("tr", {}, el("td"), ...told.agents.map((agent) => el("th", { scope: "col", text: agent })));
  const rows = told.agents.map((row) => el("tr", {}, el("th", { scope: "row", text: row }), ...told.agents.map((column) => field(row, column))));
  return el("section", { class: "card" }, el("h2", { text: "Mean score of the row against the column" }),
    el("div", { class: "wide" }, el("table", { class: "cross" }, el("thead", {}, head), el("tbody", {}, ...rows))),
    el("p", { class: "note", text: "± is the 95 % interval; exact values are told where the game is small enough to enumerate." }));
}

function ratings(told) {
  const low = Math.min(...told.ratings.map((one) => one.interval[0])), high = Math.max(...told.ratings.map((one) => one.interval[1]));
  const at = (elo) => `${(100 * (elo - low)) / Math.max(1, high - low)}%`;
  const rows = told.ratings.map((one) => {
    const range = el("div", { class: "range" }), point = el("div", { class: "point" });
    range.style.left = at(one.interval[0]);
    range.style.right = `calc(100% - ${at(one.interval[1])})`;
    point.style.left = at(one.elo);
    return el("tr", {}, el("th", { scope: "row", text: one.agent }), el("td", { class: "n", text: one.elo.toFixed(0) }),
      el("td", { class: "n", text: `${one.interval[0].toFixed(0)} to ${one.interval[1].toFixed(0)}` }), el("td", { class: "span" }, el("div", { class: "track" }, range, point)));
  });
  const head = el("tr", {}, ...["Agent", "Elo", "95 % interval", ""].map((text) => el("th", { scope: "col", text })));
  return el("section", { class: "card" }, el("h2", { text: "Elo, by wins" }),
    el("div", { class: "wide" }, el("table", { class: "elo" }, el("thead", {}, head), el("tbody", {}, ...rows))),
    told.added_draws ? el("p", { class: "note", text: "Somebody never lost a point: one draw was added to every pair, or ratings would be without bound." }) : null);
}

function pairs(told) {
  const ms = (seconds) => (seconds === null ? "" : `${(1000 * seconds).toPrecision(3)} ms`);
  const rows = told.pairs.map((pair) => el("tr", {}, el("th", { scope: "row", text: `${pair.a} – ${pair.b}` }),
    ...[pair.wins, pair.draws, pair.losses].map((n) => el("td", { class: "n", text: n.toLocaleString() })),
    el("td", { class: "n", text: signed(pair.score, 4) }), el("td", { class: "n", text: pair.exact === null ? "" : signed(pair.exact, 4) }),
    el("td", { class: "n", text: pair.seconds.map(ms).filter(Boolean).join(", ") }), el("td", { class: "n", text: pair.unknown.some(Boolean) ? pair.unknown.join(" / ") : "" })));
  const head = el("tr", {}, ...["Pair", "Wins", "Draws", "Losses", "Score", "Exact", "Time a move", "Unknown states"].map((text) => el("th", { scope: "col", text })));
  return el("details", { class: "card" }, el("summary", { text: "All pairs" }), el("div", { class: "wide" }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows))));
}
