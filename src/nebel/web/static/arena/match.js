// A match as it goes: the cross table as a heat map, ratings with their intervals, all pairs.
import { get, post } from "../api.js";
import { chart } from "../chart.js";
import { el } from "../dom.js";
import { title, variant } from "../play/phrases.js";
import { careful, complain } from "../toast.js";
import { crossFigure, crossSize, eloFigure, eloHeight } from "./figures.js";
import { crossTable, eloTable, pairTable } from "./tables.js";

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
  const body = results();
  let timer = null, left = false;

  function show(told) {
    const now = told.now ? `${told.now.join(" against ")}: ${told.played.toLocaleString()} of ${told.games.toLocaleString()} games` : WORDS[told.stage];
    status.textContent = told.reason ? `${now}: ${told.reason}` : now;
    bar.firstChild.style.width = `${100 * told.share}%`;
    const over = !["waiting", "playing"].includes(told.stage);
    stop.hidden = over;
    drop.hidden = !over;
    bar.hidden = told.stage === "done";
    body.fill(told);
    return over;
  }

  async function poll() {
    try {
      const told = await get(`/arena/${id}`);
      if (left || show(told)) return;
    } catch (error) {
      status.textContent = error.message;
      if (error.status === 404) return;
    }
    if (!left) timer = setTimeout(poll, EVERY);
  }

  const first = await get(`/arena/${id}`);
  host.append(el("div", { class: "stack match" },
    el("header", { class: "row" }, el("h1", { text: `${title(first.game)} ${variant(first.game)}` }), stop, drop, again),
    el("p", { class: "note", text: `${first.games.toLocaleString()} games a pair, half in each seat; seed ${first.seed}` }), status, bar, ...body.parts));
  await poll();
  return {
    leave() {
      left = true;
      clearTimeout(timer);
      body.leave();
    },
  };
}

// What is known so far, drawn again when a pair has begun or ended.
function results() {
  const cross = chart("The cross table as a heat map; its numbers are in the table below"), elo = chart("Elo with intervals; its numbers are in the table below");
  const [crossed, rated, paired] = Array.from({ length: 3 }, () => el("div", { class: "wide" }));
  const added = el("p", { class: "note", text: "One draw was added to every pair: somebody never lost a point, and ratings would be without bound." });
  const ratings = el("section", { class: "card stack" }, el("h2", { text: "Elo, by wins" }), elo.element, rated, added);
  const pairs = el("details", { class: "card" }, el("summary", { text: "All pairs" }), paired);
  const parts = [
    el("section", { class: "card stack" }, el("h2", { text: "Mean score of the row against the column" }), el("div", { class: "wide" }, cross.element),
      el("p", { class: "note", text: "± is the 95 % interval; exact values (=) are told where the game is small enough to enumerate." }),
      el("details", {}, el("summary", { text: "As a table" }), crossed)),
    ratings, pairs,
  ];
  let shown = "";

  function fill(told) {
    const now = JSON.stringify([told.pairs.length, told.now]);
    if (now === shown) return;
    shown = now;
    const size = crossSize(told.agents.length);
    [cross.element.style.minWidth, cross.element.style.maxWidth, cross.element.style.height] = [`${size.wide}px`, `${1.6 * size.wide}px`, `${size.high}px`];
    elo.element.style.height = `${eloHeight(told.ratings.length)}px`;
    ratings.hidden = pairs.hidden = !told.ratings.length;
    added.hidden = !told.added_draws;
    crossed.replaceChildren(crossTable(told));
    rated.replaceChildren(eloTable(told));
    paired.replaceChildren(pairTable(told));
    cross.draw(crossFigure(told)).catch(complain);
    if (told.ratings.length) elo.draw(eloFigure(told)).catch(complain);
  }

  return { parts, fill, leave: () => [cross, elo].forEach((one) => one.leave()) };
}
