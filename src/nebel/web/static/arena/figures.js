// The charts of a match, as figures for chart.js: agents stand at 0, 1, 2 ..., whatever they are called.
import { label } from "../chart.js";
import { crossed, signed } from "./tables.js";

const CELL = { wide: 70, high: 58 };
const NAMES = { beside: 120, above: 64, letters: 16 };

export const crossSize = (agents) => ({ wide: NAMES.beside + agents * CELL.wide, high: NAMES.above + agents * CELL.high });
export const eloHeight = (agents) => 64 + 34 * agents;

const count = (games) => games.toLocaleString();
const bare = { ticks: "", showgrid: false, showline: false, zeroline: false };
const ticks = (names, wide) => ({ ...bare, tickmode: "array", tickvals: names.map((_, i) => i), ticktext: names.map((name) => label(name, wide, 3)) });

export function crossFigure(told) {
  const cells = crossed(told), { agents, now } = told;
  const most = Math.max(1e-9, ...told.pairs.map((pair) => Math.abs(pair.score)));
  const written = (met) => (met ? [signed(met.score), met.reach, met.exact === null ? "" : `= ${signed(met.exact, 4)}`].filter(Boolean).join("<br>") : "");
  const hint = (met, i, j) => (met ? [label(agents[i], 40), `against ${label(agents[j], 40)}`, `score ${signed(met.score, 4)} ${met.reach}`,
    `${count(met.wins)} wins, ${count(met.draws)} draws, ${count(met.losses)} losses`, met.exact === null ? "" : `exactly ${signed(met.exact, 4)}`].filter(Boolean).join("<br>") : "");
  const open = cells.flatMap((row, i) => row.map((met, j) => (met || i === j ? null : [i, j]))).filter(Boolean);
  const playing = now ? [now.map((name) => agents.indexOf(name)), now.map((name) => agents.indexOf(name)).reverse()] : [];
  return (colours) => ({
    traces: [{
      type: "heatmap",
      z: cells.map((row) => row.map((met) => met?.score ?? null)),
      text: cells.map((row) => row.map(written)),
      texttemplate: "%{text}",
      textfont: { size: 12, color: colours.ink },
      hovertext: cells.map((row, i) => row.map((met, j) => hint(met, i, j))),
      hoverinfo: "text",
      hoverongaps: false,
      opacity: 0.5, // of the ground alone: what is written on it stays readable
      colorscale: [[0, colours.bad], [0.5, colours.paper], [1, colours.good]],
      zmin: -most,
      zmax: most,
      showscale: false,
      xgap: 3,
      ygap: 3,
    }],
    layout: {
      xaxis: { ...ticks(agents, 10), side: "top", tickangle: 0, range: [-0.5, agents.length - 0.5] },
      yaxis: { ...ticks(agents, NAMES.letters), range: [agents.length - 0.5, -0.5] },
      shapes: [...open.map((at) => frame(at, { color: colours.line })), ...playing.map((at) => frame(at, { color: colours.accent, dash: "dash" }))],
      annotations: playing.map(([row, column]) => ({ x: column, y: row, text: "…", showarrow: false, font: { color: colours.accent } })),
    },
  });
}

function frame([row, column], line) {
  return { type: "rect", x0: column - 0.46, x1: column + 0.46, y0: row - 0.46, y1: row + 0.46, line: { width: 1.5, ...line }, layer: "below" };
}

export function eloFigure({ ratings }) {
  return (colours) => ({
    traces: [{
      type: "scatter",
      mode: "markers",
      x: ratings.map((one) => one.elo),
      y: ratings.map((_, i) => i),
      error_x: {
        type: "data", symmetric: false, color: colours.accent, thickness: 2, width: 5,
        array: ratings.map((one) => one.interval[1] - one.elo), arrayminus: ratings.map((one) => one.elo - one.interval[0]),
      },
      marker: { color: colours.accent, size: 10 },
      hovertext: ratings.map((one) => `${label(one.agent, 40)}<br>Elo ${one.elo.toFixed(0)}, from ${one.interval[0].toFixed(0)} to ${one.interval[1].toFixed(0)}`),
      hoverinfo: "text",
    }],
    layout: {
      showlegend: false,
      hovermode: "closest",
      xaxis: { title: { text: "Elo" }, zeroline: false },
      yaxis: { ...ticks(ratings.map((one) => one.agent), NAMES.letters), showgrid: true, range: [ratings.length - 0.5, -0.5] },
    },
  });
}
