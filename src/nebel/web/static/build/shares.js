// The moves that are chosen for a state, and their shares: equal ones, until somebody writes another.
import { el } from "../dom.js";

const SVG = "http://www.w3.org/2000/svg";

export function shares() {
  const element = el("div", { class: "row chosen" });
  let given = new Map(); // cell -> input
  let equal = true;

  const made = {
    element,
    changed: () => {},
    begin(known) {
      given = new Map();
      for (const [cell, share] of Object.entries(known)) add(cell, share);
      equal = new Set(Object.values(known)).size <= 1;
      refresh();
    },
    toggle(cell) {
      if (given.has(cell)) given.delete(cell);
      else add(cell, "");
      refresh();
    },
    // What the server reads: "b2", "b2 c1" or "b2:1/3 c1:2/3"; "" if nothing is chosen.
    text() {
      const all = [...given];
      return all.map(([cell, input]) => (equal ? cell : `${cell}:${input.value.trim() || "0"}`)).join(" ");
    },
    // Shows them on the board.
    mark(board) {
      board.querySelectorAll(".share").forEach((old) => old.remove());
      for (const [cell, input] of given) {
        const place = board.querySelector(`[data-cell="${cell}"]`);
        if (place) place.ownerSVGElement.append(badge(place.getBBox(), given.size > 1 ? input.value : ""));
      }
    },
  };

  function add(cell, share) {
    given.set(cell, el("input", { type: "text", inputmode: "decimal", value: share, "aria-label": `Share of ${cell}`, autocomplete: "off", oninput: () => {
      equal = false;
      made.changed();
    } }));
  }

  function refresh() {
    if (given.size < 2) equal = true;
    for (const input of given.values()) if (equal) input.value = given.size > 1 ? `1/${given.size}` : "1";
    const fields = given.size < 2 ? [] : [...given].map(([cell, input]) => el("label", { class: "share-field" }, el("span", { text: cell }), input));
    element.replaceChildren(...fields);
    made.changed();
  }

  return made;
}

function badge(box, text) {
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const group = document.createElementNS(SVG, "g");
  group.setAttribute("class", "share");
  const circle = document.createElementNS(SVG, "circle");
  for (const [name, value] of Object.entries({ cx: x, cy: y, r: 19 })) circle.setAttribute(name, value);
  const label = document.createElementNS(SVG, "text");
  for (const [name, value] of Object.entries({ x, y: y + 5, "text-anchor": "middle" })) label.setAttribute(name, value);
  label.textContent = text || "✓";
  group.append(circle, label);
  return group;
}
