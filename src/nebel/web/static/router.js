// Which part of the page is shown: by the address after the #, such as #/play/ID.KEY.
//
// A part is an ES module in tabs/ that is listed in tabs.js and exports
//   name            the first word of its addresses: "play" for #/play/...
//   title           what its tab says
//   show(host, path, context)
//                   fills `host`, an empty element; may be async. `path` is the address after the name, split at "/", decoded.
//                   It may return an object with
//                     leave()      called before the part is taken away (close sockets, stop clocks)
//                     move(path)   called when the address changes within the part; return true if that was dealt with,
//                                  otherwise the part is shown anew
// context.go(...path) goes to #/name/path...; context.replace(...path) changes the address without a new entry in the history and
// without calling move. Errors that show() throws become a message on the page.
import { el } from "./dom.js";

let shown = null; // {tab, part}
let turn = 0;

export function address(...parts) {
  return "#/" + parts.map((part) => encodeURIComponent(part).replaceAll("%2C", ",")).join("/");
}

export function start(host, nav, tabs) {
  const links = tabs.map((tab) => el("a", { href: address(tab.name), text: tab.title }));
  nav.append(...links);
  const follow = () => route(host, tabs, links);
  addEventListener("hashchange", async () => {
    await follow();
    if (document.activeElement === document.body) host.focus({ preventScroll: true }); // what had the focus is gone
  });
  follow();
}

async function route(host, tabs, links) {
  const [name, ...path] = location.hash.replace(/^#\/?/, "").split("/").map(decode);
  if (!name || location.hash === `#${host.id}`) return history.replaceState(null, "", address(tabs[0].name)), route(host, tabs, links);
  const tab = tabs.find((one) => one.name === name);
  if (tab && shown?.tab === tab && shown.part?.move?.(path)) return undefined;
  const mine = ++turn;
  shown?.part?.leave?.();
  shown = { tab, part: null };
  links.forEach((link, i) => (tabs[i] === tab ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current")));
  const room = el("div", { class: "room" });
  host.replaceChildren(room);
  if (!tab) return room.append(el("p", { class: "empty", text: `There is no part of this page called ${name}.` }));
  document.title = `${tab.title} – nebel`;
  const context = {
    go: (...parts) => (location.hash = address(tab.name, ...parts)),
    replace: (...parts) => history.replaceState(null, "", address(tab.name, ...parts)),
  };
  try {
    const part = await tab.show(room, path, context);
    if (mine === turn) shown.part = part ?? null;
    else part?.leave?.();
  } catch (error) {
    if (mine === turn) room.replaceChildren(el("p", { class: "empty", role: "alert", text: error.message }));
  }
  return undefined;
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
