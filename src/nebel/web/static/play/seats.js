// The seats that this browser holds, by game: [{seat, key, watch}].
import { keep, kept } from "../keep.js";

const NEWEST = 30;

export function seatsOf(id) {
  return games().find((game) => game.id === id)?.seats ?? [];
}

// The seats that this tab looks at: the one at which it sat down, or all that the browser holds.
export function seatsHere(id) {
  const seats = seatsOf(id), mine = kept(`seat-${id}`, true);
  const one = mine === null ? [] : seats.filter((seat) => String(seat.seat) === mine);
  return one.length ? one : seats;
}

export function sitDown(id, seat) {
  keep(`seat-${id}`, seat === null ? null : String(seat), true);
}

// `invite`: the key of the other person's seat, to be handed on.
export function holdSeats(id, game, seats, invite = games().find((one) => one.id === id)?.invite) {
  const others = games().filter((one) => one.id !== id);
  keep("games", JSON.stringify([{ id, game, seats, invite, begun: Date.now() }, ...others].slice(0, NEWEST)));
}

export function inviteOf(id) {
  return games().find((game) => game.id === id)?.invite;
}

// Newest first.
export function games() {
  try {
    return JSON.parse(kept("games")) ?? [];
  } catch {
    return [];
  }
}
