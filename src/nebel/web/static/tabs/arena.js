// Arena: #/arena begins matches and lists them, #/arena/ID is one.
import { form } from "../arena/form.js";
import { match } from "../arena/match.js";
import { get } from "../api.js";
import { el } from "../dom.js";
import { title as named, variant } from "../play/phrases.js";

export const name = "arena";
export const title = "Arena";

export async function show(host, path, context) {
  if (path[0]) return match(host, path[0], context);
  const list = el("div", { class: "stack" });
  const begin = await form(context);
  host.append(el("div", { class: "lobby" }, el("section", { class: "stack" }, el("h1", { text: "Arena" }), list), begin));
  const refresh = async () => list.replaceChildren(...listed(await get("/arena"), context));
  await refresh();
  const timer = setInterval(() => refresh().catch(() => {}), 3000);
  return { leave: () => clearInterval(timer) };
}

function listed(matches, context) {
  if (!matches.length) return [el("p", { class: "note", text: "No match yet. Choose a game and who plays: every agent meets every other, half of the games in each seat, and all pairs get the same luck." })];
  return matches.map((one) => {
    const when = new Date(1000 * one.began).toLocaleString([], { dateStyle: "short", timeStyle: "short" });
    const stage = one.stage === "playing" ? `${Math.round(100 * one.share)} %` : one.stage;
    return el("button", { type: "button", class: "card quick", onclick: () => context.go(one.id) },
      el("strong", { text: `${named(one.game)} ${variant(one.game)}` }), el("span", { text: one.agents.join(", ") }),
      el("small", { text: `${when} · ${one.games.toLocaleString()} games a pair, seed ${one.seed} · ${stage}` }));
  });
}
