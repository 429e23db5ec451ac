// Another game, or other limits: between shoes only.

import { titled } from "/shared/catalogue.js";
import { byId, element, one, scrolling, submitted, table } from "/shared/elements.js";
import { moneyIn, readMoney } from "/shared/money.js";
import { askOrder } from "./dialogs.js";
import { t, wagerTitle } from "./language.js";
import { live, read } from "./service.js";

/** @import { GameOnOffer, View } from "#sent/consoles" */
/** @typedef {"minimum" | "maximum" | "step"} Limit */

/** @type {[Limit, string][]} */
const LIMITS = [
  ["minimum", t("minimum")],
  ["maximum", t("maximum")],
  ["step", t("step")],
];
const form = byId("game-form", HTMLFormElement);
const choice = byId("game-choice", HTMLSelectElement);
const go = byId("change-game", HTMLButtonElement);
/** @type {View} */
let view;
/** @type {GameOnOffer[] | null} */
let games = null;

/**
 * @param {View} latest
 * @param {{ opened: boolean }} how
 */
export async function showGames(latest, { opened }) {
  view = latest;
  if (opened) await fetchGames();
  const may = view.orders.includes("change_game");
  byId("games-when").textContent = may ? t("games.may") : t("games.may_not");
  go.disabled = !(may && live()) || games === null;
}

submitted(form, change);
choice.addEventListener("change", showLimits);

async function fetchGames() {
  games = await read("/api/games", byId("game-limits"));
  if (games === null) return;
  choice.replaceChildren(
    ...games.map(({ name, title: own, titles, dealt }) => {
      const title = titled(titles, own);
      return element(
        "option",
        { value: name, selected: own === view.state.game },
        dealt === "face_down" ? t("game.face_down", { title }) : title,
      );
    }),
  );
  showLimits();
}

const chosen = () => /** @type {GameOnOffer} */ (games?.find(({ name }) => name === choice.value));

/** The limits in force where the game is the one being played, else those of its file. */
function showLimits() {
  const { title, wagers, wager_titles: titles } = chosen();
  const inForce = new Map(title === view.state.game ? view.state.limits.map((each) => [each.wager, each]) : []);
  byId("game-limits").replaceChildren(
    scrolling(
      t("limits"),
      table(
        t("limits"),
        [t("wager"), ...LIMITS.map(([, word]) => word), t("maximum_of_base")],
        wagers.map((wager) => {
          const shown = inForce.get(wager.wager) ?? wager;
          /** @type {(limit: string, word: string, value: string) => HTMLElement} */
          const field = (limit, word, value) =>
            element("input", {
              name: `${wager.wager}.${limit}`,
              "aria-label": t("of_order", { order: wagerTitle(wager.wager, wager.title, titles), text: word }),
              inputmode: "decimal",
              autocomplete: "off",
              placeholder: t("none"),
              value,
            });
          return [
            wagerTitle(wager.wager, wager.title, titles),
            ...LIMITS.map(([limit, word]) => field(limit, word, amount(shown[limit]))),
            field("maximum_of_base", t("maximum_of_base"), shown.maximum_of_base ?? ""),
          ];
        }),
      ),
    ),
  );
}

/** @param {number | null} minor */
const amount = (minor) => (minor === null ? "" : moneyIn(view.state.currency, { bare: true })(minor));

/** The limits as they are typed, where they are other than the file's. */
function typed() {
  /** @type {Record<string, Partial<Record<Limit, number>> & { maximum_of_base?: string }>} */
  const limits = {};
  const { wagers, wager_titles: titles } = chosen();
  for (const wager of wagers) {
    for (const [limit, word] of LIMITS) {
      const text = one(`[name="${wager.wager}.${limit}"]`, HTMLInputElement, form).value.trim();
      const none = text === "" && wager[limit] === null;
      const minor = none
        ? null
        : readMoney(
            text,
            t("limit_of", { wager: wagerTitle(wager.wager, wager.title, titles), limit: word.toLowerCase() }),
            view.state.currency,
          );
      if (minor !== null && minor !== wager[limit]) limits[wager.wager] = { ...limits[wager.wager], [limit]: minor };
    }
    const share = one(`[name="${wager.wager}.maximum_of_base"]`, HTMLInputElement, form).value.trim();
    if (share !== (wager.maximum_of_base ?? "")) {
      limits[wager.wager] = { ...limits[wager.wager], maximum_of_base: share };
    }
  }
  return limits;
}

function change() {
  if (go.disabled) return;
  const limits = typed();
  const game = chosen();
  const money = moneyIn(view.state.currency);
  const narrowed = game.wagers
    .filter(({ wager }) => wager in limits)
    .map(({ wager, title, ...of }) => {
      const { minimum, maximum, step, maximum_of_base: share } = { ...of, ...limits[wager] };
      const most = maximum === null ? t("none") : money(maximum);
      return [wagerTitle(wager, title, game.wager_titles), money(minimum), most, money(step), share ?? t("none")];
    });
  askOrder({
    order: "change_game",
    view,
    text: t("text.change_game", { game: titled(game.titles, game.title) }),
    parts: [
      narrowed.length > 0
        ? table(
            t("limits.other"),
            [t("wager"), ...[...LIMITS.map(([, word]) => word), t("maximum_of_base")].map((word) => `>${word}`)],
            narrowed,
          )
        : element("p", { class: "hint" }, t("limits.own")),
    ],
    read: () => ({ game: game.name, limits }),
    preview: () => [element("p", { class: "good" }, t("games.possible"))],
    confirm: t("change_game"),
  });
}
