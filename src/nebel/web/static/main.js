import { keep, kept } from "./keep.js";
import { start } from "./router.js";
import { TABS } from "./tabs.js";

const root = document.documentElement;
const button = document.getElementById("theme");
const dark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
}

function label() {
  button.textContent = isDark() ? "Light" : "Dark";
  button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
}

button.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  keep("theme", root.dataset.theme);
  label();
});
dark.addEventListener("change", label);
if (kept("theme")) root.dataset.theme = kept("theme");
label();
start(document.getElementById("main"), document.getElementById("tabs"), TABS);
