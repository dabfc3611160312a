// The seats that this browser holds, by game: [{seat, key, watch}].
import { keep, kept } from "../keep.js";

const NEWEST = 30;

export function seatsOf(id) {
  return games().find((game) => game.id === id)?.seats ?? [];
}

export function holdSeats(id, game, seats) {
  const others = games().filter((one) => one.id !== id);
  keep("games", JSON.stringify([{ id, game, seats, begun: Date.now() }, ...others].slice(0, NEWEST)));
}

// Newest first.
export function games() {
  try {
    return JSON.parse(kept("games")) ?? [];
  } catch {
    return [];
  }
}
