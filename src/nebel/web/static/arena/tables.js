// The figures of a match as tables, for whoever cannot see or point at charts.
import { el } from "../dom.js";

export const signed = (x, digits = 3) => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(digits)}`;

// By row and column: what the row's agent scores against the column's, or null where they have not met.
export function crossed(told) {
  const met = new Map();
  for (const pair of told.pairs) {
    const reach = pair.interval ? `±${((pair.interval[1] - pair.interval[0]) / 2).toFixed(3)}` : "";
    const { a, b, wins, draws, losses, score, exact } = pair;
    met.set(`${a}\n${b}`, { score, reach, exact, wins, draws, losses });
    met.set(`${b}\n${a}`, { score: -score, reach, exact: exact === null ? null : -exact, wins: losses, draws, losses: wins });
  }
  return told.agents.map((row) => told.agents.map((column) => met.get(`${row}\n${column}`) ?? null));
}

function table(kind, heads, rows) {
  const head = el("tr", {}, ...heads.map((text) => el("th", { scope: "col", text })));
  return el("table", { class: kind }, el("thead", {}, head), el("tbody", {}, ...rows.map(([first, ...cells]) => el("tr", {}, el("th", { scope: "row", text: first }), ...cells))));
}

const number = (text) => el("td", { class: "n", text });

export function crossTable(told) {
  const cell = (met) => el("td", { class: met ? "filled" : "" }, ...(met ? [el("strong", { text: signed(met.score) }), el("small", { text: met.reach }),
    met.exact === null ? null : el("small", { text: `exactly ${signed(met.exact, 4)}` })] : []));
  return table("cross", ["", ...told.agents], crossed(told).map((row, i) => [told.agents[i], ...row.map(cell)]));
}

export function eloTable(told) {
  return table("elo", ["Agent", "Elo", "95 % interval"],
    told.ratings.map((one) => [one.agent, number(one.elo.toFixed(0)), number(`${one.interval[0].toFixed(0)} to ${one.interval[1].toFixed(0)}`)]));
}

export function pairTable(told) {
  const ms = (seconds) => (seconds === null ? "" : `${(1000 * seconds).toPrecision(3)} ms`);
  return table("", ["Pair", "Wins", "Draws", "Losses", "Score", "Exact", "Time a move", "Unknown states"], told.pairs.map((pair) => [
    `${pair.a} – ${pair.b}`, ...[pair.wins, pair.draws, pair.losses].map((n) => number(n.toLocaleString())),
    number(signed(pair.score, 4)), number(pair.exact === null ? "" : signed(pair.exact, 4)),
    number(pair.seconds.map(ms).filter(Boolean).join(", ")), number(pair.unknown.some(Boolean) ? pair.unknown.join(" / ") : ""),
  ]));
}
