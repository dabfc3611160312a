// Review: #/review lists games of this browser, #/review/ID/SEAT is one, with /AT one of its moves. SEAT is 0 or 1 where this browser
// holds the seat, and a seat's watch key elsewhere.
import { get } from "../api.js";
import { el, field, picture, select } from "../dom.js";
import { bars, belief, signed, waiting } from "../look/parts.js";
import { says, seatName, title, variant } from "../play/phrases.js";
import { games, seatsOf } from "../play/seats.js";
import { complain } from "../toast.js";

export const name = "review";
const label = "Review";
export { label as title };

export function show(host, [id, who, at], context) {
  if (!id || !who) return list(host, context);
  const own = seatsOf(id).find((seat) => String(seat.seat) === who || seat.watch === who);
  if (!own && /^[01]$/.test(who)) throw new Error("This browser does not hold that seat: open the address that Share copies at the table.");
  return review(host, id, { part: own ? own.seat : who, key: own?.key ?? who }, at, context);
}

function list(host, context) {
  const entry = (one, seat) => el("li", {}, el("button", { type: "button", onclick: () => context.go(one.id, seat.seat) },
    `${title(one.game)} ${variant(one.game)}, ${seatName(one.game, seat.seat)}`, el("small", { text: ` ${new Date(one.begun).toLocaleString()}` })));
  const held = games().flatMap((one) => one.seats.filter((seat) => seat.watch).map((seat) => entry(one, seat)));
  host.append(el("h1", { text: "Review a game" }), el("p", { class: "note", text: "Each of your moves beside a strategy: what it gave away, and what you could have known." }),
    held.length ? el("ol", { class: "ways" }, ...held) : el("p", { class: "empty", text: "No games yet: play one, then press Review." }));
}

async function review(host, id, { part, key }, at, context) {
  const looking = host.appendChild(waiting("A judge of the moves is chosen …"));
  const [game, agents] = await Promise.all([get(`/review/${id}`, { key }), get(`/review/${id}/judges`, { key })]);
  looking.remove();
  const best = agents[0];
  const rows = el("tbody", {}), detail = el("div", { class: "stack" }), sum = el("p", { class: "status", role: "status" });
  const choice = select(agents.map((one) => ({ value: one.text, text: named(one) })), best.text, (text) => judge(text));
  host.append(el("div", { class: "table-head" }, el("h1", { text: `Review: ${title(game.game)}` }), el("span", { class: "note", text: variant(game.game) }), el("span", { class: "tag", text: seatName(game.game, game.seat) }), el("span", { text: game.result.text })),
    el("div", { class: "look review" }, el("section", { class: "card stack" }, field("Beside the strategy", choice), sum,
      el("table", { class: "judged" }, el("thead", {}, el("tr", {}, ...["", "You played", "It plays", "Loss"].map((text) => el("th", { text })))), rows)), detail));
  if (!game.moves.length) return void (sum.textContent = "You made no move in this game.");

  let turn = 0;

  async function judge(agent) {
    const mine = ++turn, losses = [];
    let open = game.moves.some((one) => String(one.at) === at) ? Number(at) : null;
    const lines = game.moves.map((one, i) => el("tr", { "data-at": one.at }, el("td", { text: i + 1 }), el("td", {}, el("button", { type: "button", text: says(game.game, one.move), disabled: true })), el("td"), el("td", { class: "note", text: "…" })));
    rows.replaceChildren(...lines);
    detail.replaceChildren(waiting("Your moves are gone through …"));
    for (const [i, one] of game.moves.entries()) {
      sum.textContent = `Move ${i + 1} of ${game.moves.length} …`;
      let found;
      try {
        found = await get(`/review/${id}/move`, { key, agent, at: one.at });
      } catch (error) {
        if (mine === turn) lines[i].lastChild.textContent = error.message;
        continue;
      }
      if (mine !== turn) return;
      losses.push(found.loss);
      const likely = [...found.moves].sort((a, b) => b.share - a.share)[0];
      const cells = lines[i].children;
      cells[1].firstChild.disabled = false;
      cells[1].firstChild.onclick = () => {
        at = String(one.at);
        context.replace(id, part, one.at);
        look(found, lines, i);
      };
      cells[2].textContent = found.known ? `${says(game.game, likely.move)} ${Math.round(100 * likely.share)} %` : "no answer";
      cells[3].className = lossClass(found.loss);
      cells[3].textContent = lossText(found.loss);
      cells[3].title = found.loss.note ?? "";
      if (open === one.at || (open === null && i === 0)) look(found, lines, i);
    }
    open = null;
    if (mine === turn) sum.textContent = total(losses, game.moves.length);
  }

  function look(found, lines, i) {
    lines.forEach((line, k) => line.classList.toggle("here", k === i));
    const seat = seatName(game.game, game.seat), loss = found.loss;
    const said = loss.kind === "exact" ? (loss.loss > 5e-4 ? `${says(game.game, found.played)} gives ${loss.loss.toFixed(3)} away; best is ${says(game.game, loss.best)}.` : `${says(game.game, found.played)} gives nothing away.`)
      : loss.kind === "estimate" ? `Against its own choice, ${says(game.game, found.played)} ${estimated(loss)}.` : "";
    const value = found.worth.value === null ? "" : ` Worth ${signed(found.worth.value)} to ${seat} when both go on by this strategy.`;
    detail.replaceChildren(
      el("section", { class: "card" }, el("h2", { text: `Move ${i + 1}: ${says(game.game, found.played)}` }), el("p", { class: "seen note", text: `You had done and seen: ${found.information}` }),
        el("div", { class: "picture" }, picture(found.svg)), bars(game.game, found.moves, found.worth, { played: found.played }),
        el("p", { text: `${said}${value}`.trim() }), el("p", { class: "note", text: [found.note, loss.note].filter(Boolean).join(" ") })),
      belief(found.belief, game.game, seatName(game.game, 1 - game.seat)));
  }

  judge(choice.value).catch(complain);
  return { move: () => false, leave: () => turn++ };
}

const named = ({ text, about }) => (text === "random" ? "random play: both players then move at random" : text === "solved" ? about : text);

// An estimate counts where its interval leaves no room for 0.
const verdict = ({ kind, loss, error }) => {
  if (kind === "none") return "none";
  const room = kind === "exact" ? 5e-4 : error;
  return loss > room ? "worse" : loss < -room ? "better" : "equal";
};
const interval = ({ loss, error }) => `${signed(loss)} ± ${error ? error.toFixed(3) : "?"}`;
const estimated = (loss) => ({ worse: `loses ${interval(loss)}`, better: `is better, loss ${interval(loss)}`, equal: loss.loss || loss.error ? `is about equal (loss ${interval(loss)})` : "is the same" })[verdict(loss)];

function lossText(loss) {
  if (loss.kind === "none") return "not known";
  if (loss.kind === "exact") return loss.loss > 5e-4 ? loss.loss.toFixed(3) : "0";
  if (!loss.loss && !loss.error) return "0";
  return verdict(loss) === "equal" ? `about equal (${interval(loss)})` : interval(loss);
}
const lossClass = (loss) => ({ none: "note", worse: "bad", better: "", equal: loss.kind === "exact" ? "good" : "" })[verdict(loss)];

function total(losses, moves) {
  const exact = losses.filter((loss) => loss.kind === "exact");
  if (exact.length === moves) {
    const sum = exact.reduce((all, loss) => all + loss.loss, 0), clean = exact.filter((loss) => loss.loss <= 5e-4).length;
    return `${clean} of ${moves} moves gave nothing away; in all ${sum.toFixed(3)} was lost, exactly.`;
  }
  const count = (...kinds) => losses.filter((loss) => kinds.includes(verdict(loss))).length;
  const unknown = moves - count("worse", "better", "equal");
  if (unknown === moves) return "What the moves gave away is not known here.";
  return `Of ${moves} moves ${count("worse")} lost something, by an interval of 95 %; of ${count("better", "equal")} that cannot be said${unknown ? `, and of ${unknown} nothing is known` : ""}.`;
}
