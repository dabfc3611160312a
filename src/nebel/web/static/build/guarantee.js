// How often the strategy wins at least: told after each step where that is quick, and otherwise when it is asked for.
import { post } from "../api.js";
import { el } from "../dom.js";
import { careful } from "../toast.js";

export function guarantee(view) {
  const figure = el("output", { class: "figure", text: "–" });
  const note = el("p", { class: "note" });
  const bar = el("div", { class: "bar" }, el("div"));
  const ask = el("button", { type: "button", text: "Find out", hidden: true, onclick: careful(() => find(false)) });
  let turn = 0;

  async function find(quickly) {
    const mine = ++turn, { work, player } = view();
    ask.disabled = true;
    if (!quickly) note.textContent = "Searching for the best response …";
    try {
      const found = await post("/build/guarantee", { work, quickly });
      if (mine !== turn) return;
      if (found.wins === null) return unknown(quickly ? "The best response to this takes a while to find." : found.why, quickly);
      figure.textContent = `${(100 * found.wins).toFixed(found.wins > 0 && found.wins < 1 ? 2 : 0)} %`;
      bar.firstChild.style.width = `${100 * found.wins}%`;
      const other = player === "black" ? "White" : "Black";
      const lost = found.open === 1 ? "; the open state counts as lost" : found.open ? `; the ${found.open.toLocaleString()} open states count as lost` : "";
      note.textContent = `of games, or more, whatever ${other} does${lost}.`;
      ask.hidden = true;
    } catch (error) {
      if (mine === turn) unknown(error.message, false);
    } finally {
      if (mine === turn) ask.disabled = false;
    }
  }

  function unknown(why, more) {
    figure.textContent = "–";
    bar.firstChild.style.width = "0";
    note.textContent = why;
    ask.hidden = !more;
  }

  return {
    element: el("div", { class: "card guarantee" }, el("h2", { text: "Wins at least" }), figure, bar, note, ask),
    show: () => find(true),
  };
}
