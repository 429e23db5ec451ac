// The i-Score of one table. The server sends what the table publishes; this draws it, and has the last word on
// whether it is live. Everything that comes from a message goes into the page as text, never as HTML.

const COLUMNS = { plate: 13, road: 34 };
const ROWS = 6;
const CELL = 10; // units of the roads' drawings
const SILENT_MILLISECONDS = 6000; // three of the server's pings: a stream that says nothing for so long is dead
const AGAIN_MILLISECONDS = 1000;
const NO_STREAM = "No connection to the display's server";

const PHASES = {
  locked: "Table closed",
  closed: "Table closed",
  shoe_change: "Shoe change",
  betting: "Place your wagers",
  dealing: "No more wagers",
  reveal: "No more wagers",
  settled: "Wagers are settled",
};
const REMARKS = { last_hand: "Last hand", dummy: "Dummy hand" };
const TROUBLES = {
  shoe_offline: "Shoe offline",
  shoe_error: "Shoe error",
  card_awaited: "Waiting for a card",
  needs_supervisor: "Waiting for a supervisor",
};
const WINNERS = { banker: "Banker", player: "Player", tie: "Tie" };
const LOSER = { banker: "player", player: "banker" };
const LETTERS = { banker: "B", player: "P", tie: "T" };

const byId = (id) => document.getElementById(id);

function put(id, text) {
  byId(id).textContent = text;
}

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// --- the state

function showState(state) {
  document.title = `${state.name} i-Score`;
  put("table-name", state.name);
  put("game", state.game);
  put("phase", PHASES[state.phase]);
  byId("phase").dataset.phase = state.phase;
  put("remark", words(REMARKS, state.overlays));
  put("shoe-number", state.shoe.number);
  put("hand-number", state.shoe.coup);
  put("cards-left", state.shoe.cards_left);
  showCoup(state);
  showLimits(state.limits, state.currency);
}

const words = (known, overlays) => overlays.filter((name) => name in known).map((name) => known[name]).join(" · ");

/** The coup being dealt, or else the last one. */
function showCoup(state) {
  const shown = state.hands ?? state.result ?? { player: [], banker: [], player_total: null, banker_total: null };
  for (const side of ["player", "banker"]) {
    const hand = byId(side);
    hand.querySelector(".total").textContent = shown[`${side}_total`] ?? "";
    const cards = shown[side].map(card);
    while (cards.length < 2) cards.push(slot());
    hand.querySelector(".cards").replaceChildren(...cards);
    hand.classList.toggle("lost", state.hands === null && LOSER[state.result?.winner] === side);
  }
  showOutcome(state, words(TROUBLES, state.overlays));
}

/** What stops the table, or else where the next card goes, or else how the last coup came out. */
function showOutcome({ hands, next, result }, trouble) {
  const outcome = byId("outcome");
  outcome.className = "";
  if (trouble) {
    outcome.className = "trouble";
    outcome.textContent = trouble;
  } else if (hands !== null || result === null) {
    outcome.textContent = next ? `Next card to ${WINNERS[next]}` : "";
  } else {
    outcome.className = result.winner ?? "";
    outcome.replaceChildren(headline(result), ...remarks(result).map((text) => element("small", "", text)));
  }
}

function headline(result) {
  if (result.status === "void") return "Hand void, wagers returned";
  return result.winner === "tie" ? "Tie" : `${WINNERS[result.winner]} wins`;
}

function remarks(result) {
  if (result.status === "void") return [];
  const known = {
    "Dummy hand": result.status === "dummy",
    Natural: result.natural,
    "Player pair": result.player_pair,
    "Banker pair": result.banker_pair,
  };
  return Object.keys(known).filter((text) => known[text]);
}

function showLimits(limits, currency) {
  const money = moneyFormat(currency);
  byId("limits").replaceChildren(
    ...limits.map(({ title, minimum, maximum }) => {
      const line = element("div");
      const amounts = maximum === null ? `from ${money(minimum)}` : `${money(minimum)} – ${money(maximum)}`;
      line.append(element("dt", "", title), element("dd", "", amounts));
      return line;
    }),
  );
}

// --- long names, many words and large limits get smaller type; nothing is cut off

function fitAll() {
  for (const id of ["table-name", "game", "outcome", "limits"]) fit(byId(id));
}

function fit(box) {
  for (let size = 1; size > 0.3; size -= 0.05) {
    box.style.setProperty("--fit", size);
    if (box.scrollWidth <= box.clientWidth) break;
  }
}

/** Amounts of two-decimal money, whole ones without their decimals. */
function moneyFormat(currency) {
  const style = { trailingZeroDisplay: "stripIfInteger", minimumFractionDigits: 2 };
  let format;
  try {
    format = new Intl.NumberFormat("en", { ...style, style: "currency", currency, currencyDisplay: "narrowSymbol" });
  } catch {
    format = new Intl.NumberFormat("en", style); // not a currency's code: the number alone
  }
  return (minor) => format.format(minor / 100);
}

// --- cards, 86 × 118

function card(code) {
  if (code === null) return back();
  const [rank, suit] = code;
  const color = "HD".includes(suit) ? "red" : "black";
  return svg(
    "svg",
    { class: `card ${color}`, viewBox: "0 0 86 118", "data-card": code },
    svg("rect", { class: "paper", width: 86, height: 118, rx: 8 }),
    svg("text", { class: "rank", x: 7, y: 49 }, rank === "T" ? "10" : rank),
    svg("use", { href: `#suit-${suit}`, x: 28, y: 58, width: 52, height: 52 }),
  );
}

function back() {
  const weave = "M8 20 78 98M8 59 61 110M25 8 78 59M78 20 8 98M78 59 25 110M61 8 8 59";
  return svg(
    "svg",
    { class: "card", viewBox: "0 0 86 118", "data-card": "back" },
    svg("rect", { class: "back", x: 2.5, y: 2.5, width: 81, height: 113, rx: 7 }),
    svg("path", { class: "weave", d: weave }),
  );
}

function slot() {
  return svg(
    "svg",
    { class: "card", viewBox: "0 0 86 118" },
    svg("rect", { class: "slot", x: 1, y: 1, width: 84, height: 116, rx: 8 }),
  );
}

// --- the roads

function showScoreboard(board) {
  drawRoad(byId("bead-plate"), board.bead_plate, COLUMNS.plate, bead);
  drawRoad(byId("big-road"), board.big_road, COLUMNS.road, ring);
  for (const [name, count] of Object.entries(board.counts)) put(`count-${name}`, count);
  const streak = byId("streak");
  streak.className = board.streak?.winner ?? "";
  streak.querySelector("dd").textContent = board.streak ? `${LETTERS[board.streak.winner]} × ${board.streak.length}` : "–";
}

function drawRoad(drawing, cells, width, mark) {
  const first = firstShownColumn(cells, width);
  const shown = cells.filter(({ col }) => col >= first && col < first + width);
  const newest = cells.at(-1);
  drawing.setAttribute("viewBox", `0 0 ${width * CELL} ${ROWS * CELL}`);
  drawing.dataset.first = first;
  drawing.replaceChildren(
    ...gridOf(width),
    ...shown.map((cell) => {
      const { row, col, winner } = cell;
      const highlight = cell === newest ? [svg("rect", { class: "newest", width: CELL, height: CELL })] : [];
      return svg(
        "g",
        {
          class: `cell ${winner ?? "waiting"}`,
          transform: `translate(${(col - first) * CELL} ${row * CELL})`,
          "data-row": row,
          "data-col": col,
        },
        ...highlight,
        ...mark(cell),
        ...dots(cell),
      );
    }),
  );
}

/** Whole columns are dropped from the left so that the last fits, but never so many that the newest cell goes. */
function firstShownColumn(cells, width) {
  if (cells.length === 0) return 0;
  const last = Math.max(...cells.map(({ col }) => col));
  return Math.min(Math.max(0, last + 1 - width), cells.at(-1).col);
}

function gridOf(width) {
  const across = Array.from({ length: ROWS + 1 }, (_, row) => `M0 ${row * CELL}H${width * CELL}`);
  const down = Array.from({ length: width + 1 }, (_, col) => `M${col * CELL} 0V${ROWS * CELL}`);
  return [
    svg("rect", { class: "grid", width: width * CELL, height: ROWS * CELL }),
    svg("path", { class: "grid-lines", d: [...across, ...down].join("") }),
  ];
}

function bead({ winner, natural }) {
  return [
    svg("circle", { class: natural ? "bead natural" : "bead", cx: 5, cy: 5, r: 4.1 }),
    svg("text", { class: "letter", x: 5, y: 6.95 }, LETTERS[winner]),
  ];
}

function ring({ winner, ties, natural }) {
  const marks = winner === null ? [] : [svg("circle", { class: "ring", cx: 5, cy: 5, r: 3.6 })];
  if (natural) marks.push(svg("circle", { class: "inner", cx: 5, cy: 5, r: 2.5 }));
  if (ties > 0) marks.push(svg("path", { class: "ties", d: "M1.4 8.6 8.6 1.4" }));
  if (ties > 1) marks.push(svg("text", { class: "tie-count", x: 5, y: 6.8 }, ties));
  return marks;
}

function dots({ banker_pair, player_pair }) {
  const dot = (name, cx, cy) => svg("circle", { class: `dot ${name}`, cx, cy, r: 1.5 });
  return [
    ...(banker_pair ? [dot("banker-pair", 1.75, 1.75)] : []),
    ...(player_pair ? [dot("player-pair", 8.25, 8.25)] : []),
  ];
}

// --- live or not

let liveTimer;

function showLive({ milliseconds, reason }) {
  clearTimeout(liveTimer);
  put("not-live-reason", reason);
  document.body.classList.toggle("live", milliseconds > 0);
  liveTimer = setTimeout(() => document.body.classList.remove("live"), milliseconds);
}

// --- the stream: opened, and opened again whenever it ends, fails or falls silent

let stream;
let streamTimer;

function open() {
  stream?.close();
  stream = new EventSource("events");
  stream.onerror = () => lost(NO_STREAM);
  stream.onopen = heard;
  listen("state", showState);
  listen("scoreboard", showScoreboard);
  listen("live", showLive);
  stream.addEventListener("ping", heard);
  heard();
}

function listen(name, show) {
  stream.addEventListener(name, (event) => {
    heard();
    try {
      show(JSON.parse(event.data));
      fitAll();
    } catch (error) {
      lost("This page cannot show what the table published");
      throw error;
    }
  });
}

function heard() {
  clearTimeout(streamTimer);
  streamTimer = setTimeout(() => lost(NO_STREAM), SILENT_MILLISECONDS);
}

function lost(reason) {
  stream.close();
  showLive({ milliseconds: 0, reason });
  clearTimeout(streamTimer);
  streamTimer = setTimeout(open, AGAIN_MILLISECONDS);
}

open();
