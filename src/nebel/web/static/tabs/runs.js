// Runs: #/runs/NAME,NAME/METRIC shows curves of runs as they go on; #/runs/report/NAME is a report.
import { get } from "../api.js";
import { chart } from "../chart.js";
import { figure, nothing } from "../curves.js";
import { el, field, select } from "../dom.js";

export const name = "runs";
export const title = "Runs";

const EVERY = 2000; // ms
const MOST = 6; // runs in a chart
const PREFERRED = ["exploitability", "loss", "value"];

export async function show(host, path, context) {
  if (path[0] === "report") return report(host, path[1] ?? "", context);
  const { runs, reports } = await get("/runs");
  const papers = reports.length ? el("section", { class: "card" }, el("h2", { text: "Reports" }),
    el("ul", { class: "plain" }, ...reports.map((file) => el("li", {}, el("a", { href: `#/runs/report/${encodeURIComponent(file)}`, text: file }))))) : null;
  if (!runs.length) {
    host.append(el("h1", { text: "Runs" }), el("p", { class: "empty", text: "No run in the folder of runs yet. One begins with: nebel solve leduc --run runs/leduc" }), papers ?? "");
    return undefined;
  }
  return curves(host, runs, papers, path, context);
}

function curves(host, runs, papers, path, context) {
  const known = (one) => runs.some((run) => run.name === one);
  let chosen = (path[0] ?? "").split(",").map((one) => one.replaceAll("%2C", ",").replaceAll("%25", "%")).filter(known).slice(0, MOST);
  if (!chosen.length) chosen = [runs[0].name];
  let stamp = "", timer = null, left = false, turn = 0;
  const run = (one) => runs.find((each) => each.name === one);
  const metrics = () => [...new Set(chosen.flatMap((one) => run(one).metrics))];
  const y = select([], ""), x = select([], "");
  const logX = el("input", { type: "checkbox" }), logY = el("input", { type: "checkbox" });
  const plot = chart("The curves", { zooms: true });
  const status = el("p", { class: "note", role: "status" });
  const latest = el("div", { class: "wide" });
  const full = el("p", { class: "note", text: `A chart shows at most ${MOST} runs.` });
  const list = el("div", { class: "agents" }, ...runs.map((one) => {
    const box = el("input", { type: "checkbox", value: one.name, checked: chosen.includes(one.name), onchange: pick });
    const about = [one.game, one.method, one.seed === null ? "" : `seed ${one.seed}`, new Date(1000 * one.changed).toLocaleString([], { dateStyle: "short", timeStyle: "short" })];
    return el("label", { class: "check" }, box, el("span", {}, `${one.name} `, el("small", { text: about.filter(Boolean).join(" · ") })));
  }));

  function limit() {
    for (const box of list.querySelectorAll("input")) box.disabled = !box.checked && chosen.length >= MOST;
    full.hidden = chosen.length < MOST;
  }

  function pick() {
    chosen = [...list.querySelectorAll("input:checked")].map((box) => box.value);
    limit();
    offer(y.value, x.value);
    draw();
  }

  function offer(wantedY, wantedX) {
    const all = metrics();
    const first = [wantedY, ...PREFERRED, ...all.filter((one) => one !== "iterations" && one !== "seconds")].find((one) => all.includes(one)) ?? "";
    y.replaceChildren(...all.map((value) => el("option", { value, text: value, selected: value === first })));
    const across = all.includes(wantedX) ? wantedX : "iterations";
    x.replaceChildren(...all.map((value) => el("option", { value, text: value, selected: value === across })));
  }

  function draw() {
    stamp = "";
    const names = chosen.map((one) => one.replaceAll("%", "%25").replaceAll(",", "%2C")); // of names with commas, too
    context.replace(names.join(","), y.value);
    ask();
  }

  async function ask() {
    clearTimeout(timer);
    const mine = ++turn;
    if (!chosen.length) {
      empty("Choose a run; several are drawn over each other.");
      return;
    }
    try {
      const query = new URLSearchParams([...chosen.map((one) => ["run", one]), ["y", y.value], ["x", x.value], ["since", stamp]]);
      const found = await get(`/runs/curves?${query}`);
      if (mine !== turn || left) return;
      if (found.curves) await fill(found);
      if (mine === turn) stamp = found.stamp;
    } catch (error) {
      if (mine !== turn || left) return;
      empty(error.message);
    }
    if (mine === turn && !left) timer = setTimeout(ask, EVERY);
  }

  async function fill(found) {
    const axes = { x: x.value, y: y.value, logX: logX.checked, logY: logY.checked };
    const why = nothing(found.curves, axes);
    if (why) throw new Error(why);
    latest.replaceChildren(values(found));
    status.textContent = Object.entries(found.points).map(([one, points]) => `${one}: ${points.toLocaleString()} points`).join(" · ");
    plot.element.hidden = false;
    await plot.draw(figure(found.curves, axes));
  }

  function empty(why) {
    plot.element.hidden = true;
    latest.replaceChildren();
    status.textContent = why;
  }

  function values(found) {
    const number = (value) => (value === undefined ? "" : Number.isInteger(value) ? value.toLocaleString() : String(Number(value.toPrecision(5))));
    const rows = metrics().map((metric) => el("tr", {}, el("th", { scope: "row", text: metric }), ...chosen.map((one) => el("td", { class: "n", text: number(found.latest[one]?.[metric]) }))));
    return el("table", {}, el("thead", {}, el("tr", {}, el("th", { text: "Latest" }), ...chosen.map((one) => el("th", { scope: "col", text: one })))), el("tbody", {}, ...rows));
  }

  for (const input of [x, y, logX, logY]) input.addEventListener("change", draw);
  host.append(el("h1", { text: "Runs" }), el("div", { class: "runs" },
    el("section", { class: "stack" }, el("div", { class: "card stack" }, el("h2", { text: "Which ones" }), list, full), papers ?? ""),
    el("section", { class: "card stack" },
      el("div", { class: "row axes" }, field("Up", y), field("Across", x),
        el("label", { class: "check" }, logY, el("span", { text: "log up" })), el("label", { class: "check" }, logX, el("span", { text: "log across" }))),
      plot.element, status, latest)));
  limit();
  offer(path[1] ?? "", "");
  logY.checked = y.value === "exploitability";
  ask();
  return {
    leave() {
      left = true;
      clearTimeout(timer);
      plot.leave();
    },
  };
}

function report(host, file, context) {
  const source = `/api/runs/report?${new URLSearchParams({ name: file })}`;
  host.append(el("div", { class: "row" }, el("h1", { text: file }), el("a", { href: source, target: "_blank", rel: "noopener", text: "Open on its own" }),
    el("button", { type: "button", class: "quiet", text: "All runs", onclick: () => context.go() })),
  el("iframe", { class: "report", src: source, sandbox: "", title: file }));
}
