// Curves of runs over each other, as a figure for chart.js.
import { label } from "./chart.js";

const FEW = 60; // points that are marked each

// `axes` is {x, y, logX, logY}; `curves` is {NAME: {x, y}}, in the order of their colours.
export function figure(curves, axes) {
  return (colours) => ({
    traces: Object.entries(curves).map(([name, { x, y }], i) => ({
      type: "scatter",
      mode: x.length > FEW ? "lines" : "lines+markers",
      name: label(name, 32),
      x,
      y,
      line: { color: colours.series[i], width: 2.4, dash: i % 2 ? "dash" : "solid" }, // so that a curve under another shows
      marker: { color: colours.series[i], size: 5 },
      hovertemplate: "%{y:.6~g}",
    })),
    layout: {
      uirevision: JSON.stringify(axes), // new rows leave the zoom as it is
      hovermode: "x unified",
      showlegend: true,
      legend: { orientation: "h", x: 0, yref: "container", y: 0, yanchor: "bottom" },
      margin: { l: 8, r: 14, t: 36, b: 8 },
      xaxis: { ...axis(axes.x, axes.logX), spikecolor: colours.soft, spikethickness: 1 },
      yaxis: axis(axes.y, axes.logY),
    },
  });
}

// Ticks are written out: plotly would raise powers of ten by styles that the page's policy forbids.
function axis(metric, log) {
  return { title: { text: label(metric, 40) }, type: log ? "log" : "linear", tickformat: ",.6~g", hoverformat: ",.10~g" };
}

// Why a chart of these axes would be empty, or "".
export function nothing(curves, axes) {
  for (const [metric, log, values] of [[axes.x, axes.logX, (one) => one.x], [axes.y, axes.logY, (one) => one.y]])
    if (log && !Object.values(curves).some((one) => values(one).some((value) => value > 0)))
      return `${metric} is never above 0: a logarithmic axis does not show it; take a linear one`;
  return "";
}
