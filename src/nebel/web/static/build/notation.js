// The notation beside the board: what is built is written here, and what is written here is built.
import { el } from "../dom.js";

const PAUSE = 500;

export function notation(send) {
  const area = el("textarea", { rows: 9, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": "The strategy in notation" });
  const state = el("p", { class: "note", role: "status" });
  const element = el("div", { class: "card stack notation" }, el("h2", { text: "Notation" }), area, state);
  let timer = null;

  area.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(read, PAUSE);
    say("…");
  });

  async function read() {
    try {
      const found = await send(area.value);
      if (found) wrong(found);
    } catch (error) {
      wrong({ error: error.message });
    }
  }

  function say(text) {
    state.className = "note";
    state.replaceChildren(text);
  }

  function wrong({ error, line, column }) {
    state.className = "wrong";
    state.replaceChildren(error);
    if (!line) return;
    const lines = area.value.split("\n");
    const place = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
    state.append(" ", el("button", { type: "button", class: "quiet", text: "Show", onclick: () => {
      area.focus();
      area.setSelectionRange(place, place + 1);
    } }));
  }

  return {
    element,
    // `typed`: it comes from what is written here, which stays as it is.
    show(view, typed) {
      area.disabled = view.notation === null && !typed;
      if (!typed) {
        clearTimeout(timer);
        area.value = view.notation ?? "";
      }
      say(view.notation === null ? view.why : typed ? "read" : "! any move until the end · ~ ( ) after a collision · ? still open");
    },
  };
}
