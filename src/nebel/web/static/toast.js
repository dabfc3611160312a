// Short messages at the edge of the page; errors stay a little longer.
import { el } from "./dom.js";

export function toast(text, kind = "note") {
  const shelf = document.getElementById("toasts");
  const shown = el("div", { class: `toast ${kind}` }, el("span", { text }), el("button", { type: "button", "aria-label": "Close", text: "×", onclick: () => shown.remove() }));
  shelf.append(shown);
  while (shelf.children.length > 4) shelf.firstChild.remove();
  setTimeout(() => shown.remove(), kind === "error" ? 8000 : 4000);
}

export function complain(error) {
  toast(error.message || String(error), "error");
}

// An event listener that shows what goes wrong in it: button.onclick = careful(async () => ...).
export function careful(action) {
  return async (...args) => {
    try {
      await action(...args);
    } catch (error) {
      complain(error);
    }
  };
}
