// A picture of a game on which moves are made. Games mark what can be clicked in their pictures:
//   data-cell="b2"   a place; a legal move of that very name is made by one click, moves "b2-b3" by two, or by dragging
//   data-part="2s"   a part of moves that are made of several, such as 2s2h: clicks take parts up, a button plays them
// Cells are reached by keyboard, too: Tab into the board, arrows from cell to cell, Enter to click. After a click with the mouse, arrows
// are left to whatever the board is part of.
import { el, picture } from "./dom.js";

const WAY = /^(.+)-(.+)$/;
const AIMS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// makeBoard({play(move), refuse(move or cell)}) -> {element, show(svg, legal, label, last), cells()}; `last`: cells of what happened last
export function makeBoard({ play, refuse = () => {} }) {
  const frame = el("div", { class: "picture" });
  const put = el("button", { type: "button", class: "main", hidden: true, onclick: () => play(put.value) });
  const element = el("div", { class: "board" }, frame, put);
  let legal = [], from = null, drag = null, pressed = null, again = false, pointed = false, parts = new Set();

  const cells = (name) => [...frame.querySelectorAll("[data-cell]")].filter((cell) => name === undefined || cell.dataset.cell === name);
  const from_to = (move) => (WAY.exec(move) || []).slice(1);
  const goals = (cell) => legal.filter((move) => from_to(move)[0] === cell && cells(from_to(move)[1]).length).map((move) => from_to(move)[1]);

  function show(svg, moves, label, last = []) {
    legal = moves;
    from = drag = null;
    parts = new Set();
    const focused = document.activeElement?.closest?.(".picture") === frame ? document.activeElement.dataset.cell : null;
    const image = picture(svg);
    image.style.minWidth = `${image.viewBox.baseVal.width / 2}px`; // smaller, cells could not be hit: then it is moved aside
    image.setAttribute("role", "group");
    image.setAttribute("aria-label", label);
    frame.replaceChildren(image);
    for (const cell of [...cells(), ...image.querySelectorAll("[data-part]")]) {
      cell.setAttribute("role", "button");
      cell.setAttribute("aria-label", cell.dataset.cell ?? cell.dataset.part);
      cell.setAttribute("tabindex", "-1");
      cell.classList.toggle("last", last.includes(cell.dataset.cell));
    }
    const first = cells().find((cell) => playable(cell.dataset.cell)) ?? image.querySelector("[data-part]");
    if (moves.length) first?.setAttribute("tabindex", "0");
    for (const part of moves.length ? image.querySelectorAll("[data-part]") : []) part.setAttribute("tabindex", "0");
    mark();
    if (focused) cells(focused)[0]?.focus();
  }

  const playable = (cell) => legal.includes(cell) || goals(cell).length > 0;

  function mark() {
    const aims = from === null ? [] : goals(from);
    for (const cell of cells()) {
      const name = cell.dataset.cell;
      cell.classList.toggle("can", from === null ? playable(name) : aims.includes(name));
      cell.classList.toggle("from", name === from);
    }
    const matches = legal.filter((move) => parts.size && sameParts(move));
    for (const part of frame.querySelectorAll("[data-part]")) {
      part.classList.toggle("can", legal.some((move) => partsOf(move).includes(part.dataset.part)));
      part.classList.toggle("up", parts.has(part));
    }
    put.hidden = !parts.size;
    put.disabled = !matches.length;
    put.value = matches[0] ?? "";
    put.textContent = matches.length ? `Put down ${matches[0]}` : "These cannot be put down together";
  }

  function partsOf(move) {
    const names = [...new Set([...frame.querySelectorAll("[data-part]")].map((part) => part.dataset.part))].sort((a, b) => b.length - a.length);
    const found = [];
    for (let rest = move; rest; ) {
      const next = names.find((name) => rest.startsWith(name));
      if (!next) return [];
      found.push(next);
      rest = rest.slice(next.length);
    }
    return found;
  }

  const sameParts = (move) => partsOf(move).sort().join(" ") === [...parts].map((part) => part.dataset.part).sort().join(" ");

  function click(cell) {
    if (!legal.length) return;
    if (from !== null && cell === from) from = null;
    else if (from !== null && goals(from).includes(cell)) return send(cell);
    else if (legal.includes(cell)) return play(cell);
    else if (goals(cell).length) from = cell;
    else return refuse(from === null ? cell : `${from}-${cell}`);
    mark();
  }

  // The piece that was taken up is put down: a click that follows must not do it again.
  function send(cell) {
    const move = `${from}-${cell}`;
    from = null;
    mark();
    play(move);
  }

  function toggle(part) {
    if (!part.classList.contains("can")) return;
    if (!parts.delete(part)) parts.add(part);
    mark();
  }

  const nameOf = (place) => place.dataset.cell ?? place.dataset.part;
  const at = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest?.("[data-cell], [data-part]");

  frame.addEventListener("pointerdown", (event) => {
    const target = at(event);
    drag = pressed = null;
    pointed = true;
    if (!target || !frame.contains(target) || event.button !== 0 || !event.isPrimary) return;
    pressed = target;
    const { cell } = target.dataset;
    if (!cell || !goals(cell).length || legal.includes(cell) || (from !== null && goals(from).includes(cell))) return;
    again = from === cell;
    from = drag = cell;
    mark();
    event.preventDefault();
  });
  frame.addEventListener("touchmove", (event) => drag !== null && event.preventDefault(), { passive: false }); // a drag does not scroll the page
  frame.addEventListener("click", (event) => {
    const target = at(event) ?? event.target.closest?.("[data-cell], [data-part]"), begun = pressed;
    pressed = null;
    if (!target || !frame.contains(target)) return;
    if (begun && nameOf(begun) !== nameOf(target)) return; // pressed elsewhere: the end of a drag
    if (target.dataset.part) return toggle(target);
    if (event.detail > 1) return; // of a double click, the first has made the move
    if (drag === target.dataset.cell && !again) return; // the press has already taken it up
    click(target.dataset.cell);
  });
  frame.addEventListener("pointerup", (event) => {
    const goal = at(event)?.dataset.cell;
    if (drag === null || !goal || goal === drag) return;
    drag = null;
    if (goals(from).includes(goal)) return send(goal);
    const start = from;
    from = null;
    mark();
    refuse(`${start}-${goal}`);
  });
  frame.addEventListener("keydown", (event) => {
    const here = event.target.closest("[data-cell], [data-part]");
    if (!here) return;
    if (event.key === "Escape") {
      from = null;
      mark();
    } else if (event.key === "Enter" || event.key === " ") {
      if (here.dataset.part) toggle(here);
      else click(here.dataset.cell);
    } else if (AIMS[event.key] && !pointed) next(here, AIMS[event.key])?.focus();
    else return;
    event.preventDefault();
  });

  element.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && (pointed = false));

  // The nearest place in a direction; what lies aside counts as farther away.
  function next(here, [dx, dy]) {
    const middle = (cell) => {
      const box = cell.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const [x, y] = middle(here);
    let best = null, least = Infinity;
    for (const cell of frame.querySelectorAll("[data-cell], [data-part]")) {
      const [a, b] = middle(cell);
      const along = (a - x) * dx + (b - y) * dy, aside = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
      if (along > 2 && along + 1.5 * aside < least) [best, least] = [cell, along + 1.5 * aside];
    }
    return best;
  }

  return { element, show, cells: () => cells().map((cell) => cell.dataset.cell) };
}
