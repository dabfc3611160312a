// What looking inside and reviews both show: moves with their probabilities and values, and what the other may hide.
import { el, picture } from "../dom.js";
import { says } from "../play/phrases.js";

export const percent = (share) => (share > 0 && share < 0.001 ? "< 0.1 %" : share < 1 && share > 0.999 ? "> 99.9 %" : `${(100 * share).toFixed(1)} %`);
export const signed = (value) => (value >= 0 ? "+" : "−") + Math.abs(value).toFixed(3);

// Bars of all moves, the likeliest first. `worth` is what /look/values says, null while it is awaited; `played` is marked.
export function bars(game, moves, worth, { played = null, choose = null } = {}) {
  const values = worth?.moves ?? {};
  const best = Math.max(...Object.values(values));
  const row = ({ move, share }) => {
    const fill = el("span", { class: "fill" });
    fill.style.width = `${100 * share}%`;
    const name = choose
      ? el("button", { type: "button", "data-move": move, text: says(game, move), onclick: () => choose(move) })
      : el("span", { class: "name", text: says(game, move) });
    const value = values[move];
    return el("li", { class: move === played ? "played" : "", "data-move": move }, name, el("span", { class: "track" }, fill), el("span", { class: "share", text: percent(share) }),
      el("span", { class: value === best ? "value best" : "value", text: value === undefined ? "" : signed(value) }));
  };
  const sorted = [...moves].sort((a, b) => b.share - a.share);
  const head = el("li", { class: "bars-head" }, el("span", { text: "Move" }), el("span"), el("span", { class: "share", text: "plays" }), el("span", { class: "value", text: worth?.value == null ? "" : "worth" }));
  return el("ol", { class: "bars" }, head, ...sorted.map(row));
}

// The belief: shades on the board or on cards where there are any, and a list.
export function belief({ by, secrets, more, svg, truth, hand }, game, other) {
  const bar = ({ text, share }) => {
    const fill = el("span", { class: "fill" });
    fill.style.width = `${100 * share}%`;
    return el("li", { class: text === truth ? "played" : "" }, el("span", { class: "name", text: says(game, text) }), el("span", { class: "track" }, fill), el("span", { class: "share", text: percent(share) }), el("span", { class: "value", text: text === truth ? "so it was" : "" }));
  };
  const rest = more ? el("p", { class: "note", text: `and ${more.toLocaleString("en")} more` }) : null;
  const unlisted = truth && !secrets.some(({ text }) => text === truth) ? el("p", { text: `It was: ${says(game, truth)}` }) : null;
  return el("section", { class: "card belief" }, el("h2", { text: `What ${other} may hide` }), svg ? el("div", { class: "picture" }, picture(svg)) : null, hand.length ? el("ul", { class: "hand", "aria-label": "How likely each is among them" }, ...hand.map((one) => shaded(one, game))) : null,
    secrets.length ? el("ol", { class: "bars secrets" }, ...secrets.map(bar)) : null, rest, unlisted, el("p", { class: "note", text: by }));
}

// A card or a die, the darker the likelier it is held.
function shaded({ text, share }, game) {
  const made = el("li", {}, el("strong", { text: says(game, text) }), el("small", { text: percent(share) }));
  made.style.background = `color-mix(in srgb, #5f86b5 ${Math.round(10 + 75 * share)}%, var(--paper))`;
  return made;
}

export function waiting(text) {
  return el("section", { class: "card waiting" }, el("p", { class: "note", role: "status", text }));
}
