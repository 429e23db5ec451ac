// An award of the progressive in words, and a supervisor's orders about it. At a dealer's page a supervisor signs them.

import { askOrder, say } from "./dialogs.js";
import { button, element } from "./elements.js";
import { live } from "./service.js";
import { moneyIn, sentence } from "./words.js";

export const LABELS = {
  game_over: "GAME OVER",
  end_game: "END GAME",
  confirm: "CONFIRM",
  jpot: "J-POT",
  swipe_card: "Swipe card",
  turn_key: "Turn key",
};
const OF_SUPERVISORS = { aquarius: ["turn_key", "jpot"], nexus: ["confirm", "swipe_card"] };
const WANTED = { turn_key: ["key_to_jph", "key_to_run"], jpot: ["jpot"], confirm: ["confirm"], swipe_card: ["swipe_card"] };
const CARDS = { supervisor: "a Supervisor card", executive: "an Executive card" };
const STATES = { to_confirm: "to be confirmed", locked: "logged, the meter is not adjusted yet", booked: "logged, the meter is adjusted" };

/** The award of the game: what it comes to, for what, and who gets what, in the order of paying. */
export function awardShown({ award }, currency) {
  const money = moneyIn(currency, { whole: false });
  const named = award.number === null ? "Award" : `Award ${award.number}`;
  return element(
    "div",
    { class: `award ${award.state}` },
    element("p", {}, element("strong", {}, award.amount === null ? award.pays : money(award.amount)), ` ${named}, ${STATES[award.state]}`),
    element("p", { class: "tier" }, award.amount === null ? "" : award.pays, element("span", { class: "title" }, `${award.amount === null ? "" : ": "}${award.title}`)),
    element("ol", { class: "shares", "aria-label": "Shares in the order of paying" }, ...award.shares.map(({ seat, amount }) =>
      element("li", {}, element("span", {}, `Seat ${seat}`), " ", element("b", {}, money(amount))))),
  );
}

/** Buttons for a supervisor's orders about the award, those that a device of the table gives left out; `show` puts them in order. */
export function awardOrders(current) {
  const box = element("div", { class: "award-orders", role: "group", "aria-label": "A supervisor's orders" });
  const made = new Map();

  function show() {
    const { progressive } = current();
    const orders = OF_SUPERVISORS[progressive.procedure].filter((order) => !progressive.by_device.includes(order));
    if ([...made.keys()].join() !== orders.join()) {
      made.clear();
      for (const order of orders) made.set(order, button(LABELS[order], () => press(order), { "data-order": order }));
      box.replaceChildren(...made.values());
    }
    for (const [order, key] of made) {
      key.disabled = !live();
      key.setAttribute("aria-disabled", String(progressive.orders[order] !== null));
      key.classList.toggle("go", WANTED[order].includes(progressive.todo.code));
      if (order === "turn_key") key.firstChild.textContent = `Key to ${otherWay(progressive).toUpperCase()}`;
    }
  }

  function press(order) {
    const view = current();
    const refused = view.progressive.orders[order];
    if (refused !== null) say(`${LABELS[order]}: ${refused}`, true);
    else DIALOGS[order](view);
  }

  return { node: box, show };
}

const otherWay = ({ key }) => (key === "run" ? "jph" : "run");

const DIALOGS = {
  confirm: (view) => askAbout(view, "confirm", "You have verified the hand and its wagers, and confirm this award. A card then completes it."),
  jpot: (view) => askAbout(view, "jpot", "You have verified the hand and its wagers. J-POT logs this award: after that it can be backed out only at the Game Manager."),
  swipe_card: (view) =>
    askAbout(view, "swipe_card", `Your name and password stand for ${CARDS[view.progressive.award?.card] ?? "your card"}. The award is logged and taken off the meter at once: after that it can be backed out only at the Game Manager.`),
  turn_key: (view) => {
    const to = otherWay(view.progressive);
    const off = to === "run" && view.progressive.step === "logged" ? " The award is taken off the meter." : "";
    askAbout(view, "turn_key", `The key goes to ${to.toUpperCase()}.${off}`, { to });
  },
};

/** The password of whoever swiped an Executive card, where the house asks for both. */
export function askPassword(view) {
  const owner = view.progressive.password_of;
  const password = element("input", { name: "card-password", type: "password", autocomplete: "off" });
  askOrder({
    order: "swipe_card",
    view,
    title: `Password of ${owner}`,
    text: "An award of this amount needs the card and its owner's password. It is then logged and taken off the meter at once.",
    parts: [awardShown(view.progressive, view.state.currency), element("label", {}, "Password", password)],
    read: () => {
      if (!password.value) throw new Error(`${owner} writes the password here.`);
      return { password: password.value };
    },
    confirm: "Complete the award",
    about: ({ progressive }) => progressive.password_of,
    path: "/api/card-password",
  });
}

function askAbout(view, order, text, fields = {}) {
  const { award } = view.progressive;
  askOrder({
    order,
    view,
    title: order === "turn_key" ? `Turn the key to ${fields.to.toUpperCase()}` : LABELS[order],
    text: sentence(text),
    parts: award === null ? [] : [awardShown(view.progressive, view.state.currency)],
    read: () => fields,
    signed: order === "swipe_card" || !view.orders.includes(order),
    about: ({ progressive }) => [progressive.round, progressive.step, progressive.key, progressive.award, progressive.seats.map(({ selected }) => selected)],
  });
}
