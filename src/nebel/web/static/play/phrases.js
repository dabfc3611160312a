// Words for people: how games, seats and moves are called. A game that is not here goes by its own names.
const FACES = ["", "one", "two", "three", "four", "five", "six"];
const SUITS = { s: "♠", h: "♥", d: "♦", c: "♣" };

const cards = (text) => text.replace(/([2-9TJQKA]|10)([shdc])/g, (_, rank, suit) => `${rank}${SUITS[suit]} `).trim();

// "(took:red)" by what its first word stands for, if it is one of these.
function words_after(text, meanings) {
  const [, kind, rest] = /^\((\w+):(.*)\)$/.exec(text) ?? [];
  return kind in meanings ? `${meanings[kind]} ${cards(rest)}` : null;
}

const GAMES = {
  // says(move): a move; sees(text): a sight that is not simply what the other did; why(move, cells): why that is not a legal move
  kuhn: { title: "Kuhn poker", short: "Three cards, one bet." },
  leduc: { title: "Leduc poker", short: "Six cards, two rounds of bets." },
  liars_dice: {
    title: "Liar's dice", short: "Bid on dice under two cups.",
    says: (move) => (/^\d+-\d+$/.test(move) ? move.replace(/^(\d+)-(\d+)$/, (_, n, face) => `${n} × ${FACES[face] ?? face}`) : move),
    why: (move) => `${move} is not a legal bid: write 2-5 for two fives, or liar to call the last bid. A bid must be higher than the last one: more dice, or the same number of a higher face.`,
  },
  goofspiel: { title: "Goofspiel", short: "Bid cards for prizes, unseen.", why: (move) => `You do not hold a card ${move}.` },
  dark_hex: {
    title: "Dark Hex", short: "Hex in the fog: you see what you bump into.", seats: ["Black", "White"], size: { rows: 3, cols: 3 },
    why: (cell, cells) => noCell([cell], cells) ?? `${cell} is taken: a stone that you know of is there.`,
    aim: ["Join top and bottom.", "Join left and right."],
  },
  geister: {
    title: "Geister", short: "Ghosts: good or bad, only their owner knows.", size: { width: 6, height: 6 },
    says: (move) => (/^[a-z]\d+-out$/.test(move) ? `${move.slice(0, -4)} leaves` : move.replace("-", " → ")),
    sees: (text) => words_after(text, { reds: "your red ones:", took: "you took a ghost:" }),
    why(move, cells) {
      const [from, to] = move.split("-");
      if (to === "out") return noCell([from], cells) ?? `No ghost of yours leaves from ${from}: only a blue one does, on its turn, from a corner with an arrow.`;
      return noCell(move.split("-"), cells) ?? (to ? `${from} cannot go to ${to}: a ghost of yours goes one step up, down, left or right, not onto your own.` : `No ghost of yours on ${from} can move.`);
    },
  },
  cheat: {
    title: "Cheat", short: "Put cards down, and say what they are.",
    says: cards,
    sees: (text) => (text.startsWith("(") ? words_after(text, { puts: "other puts down", took: "you take", shown: "shown:" }) : cards(text)),
    why: () => "You can put down cards that you hold, or answer a claim.",
  },
};

const family = (string) => string.split(/[(:]/)[0];
const words = (string) => GAMES[family(string)] ?? {};

export const title = (string) => words(string).title ?? string;
export const short = (string) => words(string).short ?? "";
export const aim = (string, seat) => words(string).aim?.[seat] ?? "";
export const seatName = (string, seat) => words(string).seats?.[seat] ?? `Player ${seat}`;
export const says = (string, move) => words(string).says?.(move) ?? move;

// What was seen: "(raise)" is what the other did.
export function sees(string, text) {
  const special = words(string).sees?.(text);
  if (special) return special;
  const done = /^\((.*)\)$/.exec(text)?.[1];
  return done === undefined ? text : `other: ${says(string, done)}`;
}

// Options of a game string, for people: "4 × 3", "leak noisy". Boards tell their size even where it is the usual one.
export function variant(string) {
  const options = /\((.*)\)$/.exec(string)?.[1] ?? "";
  const usual = string.includes(":") ? {} : words(string).size; // of dark_hex:4x3 it is another
  const given = { ...usual, ...Object.fromEntries(options.split(",").filter(Boolean).map((part) => part.split("="))) };
  const size = given.rows && given.cols ? [`${given.rows} × ${given.cols}`] : given.width && given.height ? [`${given.width} × ${given.height}`] : [];
  const rest = Object.entries(given).filter(([name]) => !["rows", "cols", "width", "height"].includes(name));
  return [...size, ...rest.map(([name, value]) => (value === "true" ? name : `${name} ${value}`))].join(", ");
}

// Why a move, or a cell where none begins, is not legal. `cells`: the places in the picture.
export const why = (string, move, cells) => words(string).why?.(move, cells) ?? `${move} is not a legal move here.`;

function noCell(named, cells) {
  const strange = named.find((one) => !cells.includes(one.toLowerCase()));
  return strange === undefined ? null : `There is no cell ${strange}.`;
}
