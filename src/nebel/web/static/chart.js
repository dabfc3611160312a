// Charts by plotly, whose bundle the server hands out of the installed package: it is loaded when the first chart is drawn.
import { el } from "./dom.js";

const COLOURS = ["ink", "soft", "line", "line-strong", "paper", "accent", "good", "bad"];
const SERIES = 6;
const darkness = matchMedia("(prefers-color-scheme: dark)");
let loading = null;

// A chart that goes into the page as `element`. draw(figure) draws it, or changes it and leaves alone what was zoomed or hidden; leave() ends it.
// `figure` takes the colours of the page and returns {traces, layout}; it is asked again when the colours change.
export function chart(label, { zooms = false } = {}) {
  const element = el("figure", { class: "plot", "aria-label": label });
  const themed = new MutationObserver(again);
  let wanted = null;

  async function draw(figure) {
    wanted = figure;
    const plotly = await loaded();
    if (wanted !== figure) return;
    const colours = readColours();
    const { traces, layout } = figure(colours);
    await plotly.react(element, traces, dressed(layout, colours, zooms), config(zooms));
  }

  function again() {
    if (wanted) draw(wanted);
  }

  function leave() {
    wanted = null;
    themed.disconnect();
    darkness.removeEventListener("change", again);
    if (element.data) window.Plotly.purge(element);
  }

  themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  darkness.addEventListener("change", again);
  return { element, draw, leave };
}

// A name in a chart, where plotly would read markup: at most `lines` lines of about `wide` letters, broken where names have joints.
export function label(name, wide, lines = 1) {
  const pieces = [];
  let rest = name;
  while (rest.length > wide && pieces.length < lines - 1) {
    const joint = Math.max(...["/", ":", "+", ",", "-", "_", " "].map((mark) => rest.lastIndexOf(mark, wide - 1)));
    const end = joint > wide / 3 ? joint + 1 : wide;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  pieces.push(rest.length > wide ? `${rest.slice(0, wide / 2)}…${rest.slice(rest.length - wide / 2)}` : rest);
  return pieces.map((piece) => piece.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")).join("<br>");
}

function loaded() {
  loading ??= load().catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

// The page's policy forbids styles that are written into the page. plotly adds its rules to the sheet that it finds under this id;
// what it brings along for maps, which nobody draws here, is left out.
async function load() {
  await added(el("link", { id: "plotly.js-style-global", rel: "stylesheet", href: "/static/chart.css" }));
  document.head.appendChild = (node) => (node.localName === "style" ? node : document.head.insertBefore(node, null));
  try {
    await added(el("script", { src: "/plotly.js" }));
  } finally {
    delete document.head.appendChild;
  }
  return window.Plotly;
}

function added(element) {
  return new Promise((resolve, reject) => {
    element.addEventListener("load", resolve);
    element.addEventListener("error", () => {
      element.remove();
      reject(new Error("The charts could not be loaded. Is nebel serve still running?"));
    });
    document.head.append(element);
  });
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const colours = Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  colours.series = Array.from({ length: SERIES }, (_, i) => style.getPropertyValue(`--series-${i + 1}`).trim());
  return colours;
}

function config(zooms) {
  const buttons = [["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"], ["toImage"]];
  const image = { format: "svg", filename: "nebel" }; // of other formats it would make a blob, which the page's policy forbids
  return { responsive: true, displaylogo: false, displayModeBar: zooms, modeBarButtons: buttons, toImageButtonOptions: image };
}

function dressed(layout, colours, zooms) {
  const touched = matchMedia("(pointer: coarse)").matches;
  const font = { family: getComputedStyle(document.body).fontFamily, size: 13, color: colours.ink };
  const axis = { gridcolor: colours.line, linecolor: colours["line-strong"], zerolinecolor: colours["line-strong"], automargin: true, fixedrange: !zooms };
  return {
    paper_bgcolor: colours.paper,
    plot_bgcolor: colours.paper,
    font,
    hoverlabel: { bgcolor: colours.paper, bordercolor: colours["line-strong"], font, align: "left" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colours.soft, activecolor: colours.accent },
    margin: { l: 8, r: 8, t: 8, b: 8 },
    dragmode: zooms && !touched ? "zoom" : false, // a finger on a chart scrolls the page
    ...layout,
    xaxis: { ...axis, ...layout.xaxis },
    yaxis: { ...axis, ...layout.yaxis },
  };
}
