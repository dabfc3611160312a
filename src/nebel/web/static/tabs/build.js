// Build: #/build begins a strategy, or goes on with the one that this browser keeps.
import { begin } from "../build/begin.js";
import { desk } from "../build/desk.js";
import { post } from "../api.js";
import { keep, kept } from "../keep.js";

export const name = "build";
export const title = "Build";

export async function show(host) {
  const work = kept("build");
  if (!work) return open(host, null);
  try {
    return open(host, await post("/build/show", { work: JSON.parse(work) }));
  } catch (error) {
    if (!error.status) throw error; // the server is away, the work is not
    keep("build", null); // of an earlier version, or damaged
    return open(host, null);
  }
}

function open(host, view) {
  if (view) host.replaceChildren(desk(view, () => open(host, null)));
  else begin(host, (made) => open(host, made));
}
