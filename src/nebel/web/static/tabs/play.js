// Play: #/play begins a game, #/play/ID/KEY is one; more of its address is in play/table.js.
import { lobby } from "../play/lobby.js";
import { table } from "../play/table.js";

export const name = "play";
export const title = "Play";

export function show(host, path, context) {
  return path[0] ? table(host, path, context) : lobby(host, context);
}
