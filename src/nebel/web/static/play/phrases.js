// Words for people: how games, seats and moves are called. A game that is not here goes by its own names.
const FACES = ["", "one", "two", "three", "four", "five", "six"];
const RANKS = { J: "jack", Q: "queen", K: "king", A: "ace" };
const SUITS = { s: "♠", h: "♥", d: "♦", c: "♣" };

const GAMES = {
  kuhn: { title: "Kuhn poker", short: "Three cards, one bet." },
  leduc: { title: "Leduc poker", short: "Six cards, two rounds of bets." },
  liars_dice: {
    title: "Liar's dice", short: "Bid on dice under two cups.",
    says: (move) => (/^\d+-\d+$/.test(move) ? move.replace(/^(\d+)-(\d+)$/, (_, n, face) => `${n} × ${FACES[face] ?? face}`) : move),
    why: () => "A bid must be higher than the last one: more dice, or as many of a higher face.",
  },
  goofspiel: { title: "Goofspiel", short: "Bid cards for prizes, unseen.", why: (move) => `You do not hold the ${move}.` },
  dark_hex: {
    title: "Dark Hex", short: "Hex in the fog: you see what you bump into.", seats: ["Black", "White"],
    why: (cell) => `${cell} is taken: a stone that you know of is there.`,
    aim: ["Join top and bottom.", "Join left and right."],
  },
  geister: {
    title: "Geister", short: "Ghosts: good or bad, only their owner knows.",
    says: (move) => (/^[a-z]\d+-out$/.test(move) ? `${move.slice(0, -4)} leaves` : move.replace("-", " → ")),
    why: (cell, from) => (from ? `${from} cannot go to ${cell}: ghosts go one step up, down, left or right, not onto your own.` : `No ghost of yours on ${cell} can move.`),
  },
  cheat: {
    title: "Cheat", short: "Put cards down, and say what they are.",
    says: (move) => (/^([2-9TJQKA]|10)[shdc]/.test(move) ? move.replace(/([shdc])/g, (suit) => `${SUITS[suit]} `).trim() : move),
  },
};

const family = (string) => string.split(/[(:]/)[0];
const words = (string) => GAMES[family(string)] ?? {};

export const title = (string) => words(string).title ?? string;
export const short = (string) => words(string).short ?? "";
export const aim = (string, seat) => words(string).aim?.[seat] ?? "";
export const seatName = (string, seat) => words(string).seats?.[seat] ?? `Player ${seat}`;
export const says = (string, move) => words(string).says?.(move) ?? move;
export const rank = (letter) => RANKS[letter] ?? letter;

// Options of a game string, for people: "4 × 3", "leak noisy".
export function variant(string) {
  const options = /\((.*)\)$/.exec(string)?.[1] ?? "";
  const given = Object.fromEntries(options.split(",").filter(Boolean).map((part) => part.split("=")));
  const size = given.rows && given.cols ? [`${given.rows} × ${given.cols}`] : given.width && given.height ? [`${given.width} × ${given.height}`] : [];
  const rest = Object.entries(given).filter(([name]) => !["rows", "cols", "width", "height"].includes(name));
  return [...size, ...rest.map(([name, value]) => (value === "true" ? name : `${name} ${value}`))].join(", ");
}

export function why(string, cell, from) {
  return words(string).why?.(cell, from) ?? `${cell} is not a legal move here.`;
}
