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
// Addresses after the # are those of parts of the page, so this link sets the focus and leaves the address.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
start(document.getElementById("main"), document.getElementById("tabs"), TABS);
