// Choosing the colours of one's ghosts: drag a colour from a ghost to another to swap them, or tap two ghosts one after the other.
import { el, picture } from "../dom.js";

const SVG = "http://www.w3.org/2000/svg";

export function placing({ svg, legal, placing: { homes, reds } }, play) {
  const image = picture(svg);
  let red = new Set(homes.slice(-reds).map((home) => home.letter));
  let held = null;
  const cellOf = (letter) => image.querySelector(`[data-cell="${homes.find((home) => home.letter === letter).cell}"]`);
  const ghosts = new Map();

  for (const { letter } of homes) {
    const cell = cellOf(letter);
    const [x, y, side] = ["x", "y", "width"].map((name) => Number(cell.getAttribute(name)));
    const ghost = cell.nextElementSibling; // drawn on its cell, of no colour yet
    ghost.querySelector("title").remove();
    for (const [name, value] of Object.entries({ class: "ghost", "data-letter": letter, tabindex: 0, role: "button" })) ghost.setAttribute(name, value);
    const text = document.createElementNS(SVG, "text");
    for (const [name, value] of Object.entries({ x: x + side / 2, y: y + side / 2 + 14, "text-anchor": "middle", "font-size": 14, fill: "#fff" })) text.setAttribute(name, value);
    text.textContent = letter;
    ghost.append(text);
    ghosts.set(letter, ghost);
  }

  const move = () => homes.map((home) => home.letter).filter((letter) => red.has(letter)).join("");
  const ready = el("button", { type: "button", class: "main", onclick: () => play(move()) });

  function paint() {
    for (const [letter, ghost] of ghosts) {
      ghost.classList.toggle("red", red.has(letter));
      ghost.classList.toggle("held", letter === held);
      ghost.setAttribute("aria-label", `Ghost ${letter}, ${red.has(letter) ? "red" : "blue"}`);
    }
    ready.textContent = `Ready: red are ${move()}`;
    ready.disabled = !legal.includes(move());
  }

  function swap(one, other) {
    if (red.has(one) === red.has(other)) return;
    const [out, into] = red.has(one) ? [one, other] : [other, one];
    red.delete(out);
    red.add(into);
  }

  function tap(letter) {
    if (held === null) held = letter;
    else {
      swap(held, letter);
      held = null;
    }
    paint();
  }

  // The ghosts under the pointer, one that is dragged above the others.
  const under = (event) => document.elementsFromPoint(event.clientX, event.clientY).map((one) => one.closest(".ghost")?.dataset.letter).filter(Boolean);
  let pressed = null, begun = null;
  image.addEventListener("pointerdown", (event) => {
    pressed = under(event)[0] ?? null;
    begun = event;
    if (!pressed) return;
    image.append(ghosts.get(pressed));
    image.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  image.addEventListener("pointermove", (event) => {
    if (!pressed) return;
    const scale = 1 / image.getScreenCTM().a;
    ghosts.get(pressed).style.translate = `${scale * (event.clientX - begun.clientX)}px ${scale * (event.clientY - begun.clientY)}px`;
  });
  image.addEventListener("touchmove", (event) => pressed && event.preventDefault(), { passive: false }); // a drag does not scroll the page
  image.addEventListener("pointerup", (event) => {
    const letters = under(event), other = letters.find((letter) => letter !== pressed);
    if (pressed && other) {
      held = null;
      swap(pressed, other);
      paint();
    } else if (letters.includes(pressed)) tap(pressed);
    drop();
  });
  image.addEventListener("pointercancel", drop);
  function drop() {
    ghosts.get(pressed)?.style.removeProperty("translate");
    pressed = null;
  }
  image.addEventListener("keydown", (event) => {
    const letter = event.target.closest(".ghost")?.dataset.letter;
    if (letter && (event.key === "Enter" || event.key === " ")) {
      tap(letter);
      event.preventDefault();
    }
  });
  const shuffle = () => {
    const letters = homes.map((home) => home.letter).sort(() => Math.random() - 0.5);
    red = new Set(letters.slice(0, reds));
    paint();
  };
  paint();
  return el("div", { class: "board placing" },
    el("p", { class: "note", text: `${reds} of your ghosts are red. Drag a ghost onto one of the other colour to swap them, or tap both.` }),
    el("div", { class: "picture" }, image),
    el("div", { class: "row" }, ready, el("button", { type: "button", text: "Shuffle", onclick: shuffle })));
}
