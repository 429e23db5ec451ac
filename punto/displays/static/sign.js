// One table's progressive on the screen. All message content goes into the page as text, never as HTML.

import { t, titleOfWager } from "/shared/catalogue.js";
import { element } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { hand, keepTime, newAward, pays, seat, when, winners } from "./award.js";
import { Odometer } from "./odometer.js";
import { TableShown } from "./table-shown.js";

/** @import { MeterAward, Progressive, State } from "#sent/displays" */
/** @typedef {{ id: string, name: string | null }} NamedTable a table of the display, by the name that it has told */
/** @import { Settings } from "./layout.js" */
/** @import { Liveness } from "./live.js" */

const LESS_MILLISECONDS = 10_000; // how long a decrease of the meter is shown
const NO_PROGRESSIVE = 17; // as in punto/displays/board.py

export class Sign extends TableShown {
  /**
   * @param {string} table
   * @param {Settings} house
   * @param {() => void} onPlay
   */
  constructor(table, house, onPlay) {
    super("sign", table, house, onPlay);
    this.#odometer = new Odometer(this.one("odometer"));
  }

  #odometer;
  /** @type {Progressive | null} */
  #progressive = null;
  /** @type {Map<string, string>} */
  #names = new Map();
  /** @type {Set<MeterAward["award"]>} */
  #asked = new Set();
  /** @type {number | undefined} */
  #lessTimer;

  /**
   * Show the content of a stream event.
   * @param {string} name
   * @param {string} json
   */
  show(name, json) {
    const message = JSON.parse(json);
    if (name === "progressive") this.#showProgressive(message);
    else if (name === "progressive_live") this.showLive(message);
    else if (name === "state") this.#showState(message);
    else if (name === "live" && this.#progressive === null) this.#showNone(message);
  }

  /** @param {State} state */
  #showState({ name, zone }) {
    keepTime(zone);
    this.named();
    this.#nameTables([{ id: this.table, name }]);
  }

  /**
   * Without a progressive the sign is not live; the table itself may be live.
   * @param {Liveness} liveness
   */
  #showNone({ milliseconds, code, seen }) {
    const live = milliseconds > 0;
    this.showLive({ milliseconds: 0, code: live ? NO_PROGRESSIVE : code, seen: live ? null : seen });
  }

  // --- the meter

  /** @param {Progressive | null} progressive */
  #showProgressive(progressive) {
    const before = this.#progressive;
    this.#progressive = progressive;
    this.element.dataset.phase = progressive?.phase ?? "none";
    if (progressive === null) return;
    const { phase, tables, meter, currency, wager, tiers } = progressive;
    const title = titleOfWager("progressive", progressive.title, progressive.titles);
    this.when("head", [title, tables.length, wager, currency], () => {
      document.title = title;
      this.text("title", title);
      this.text("terms", t("tier.now", { wager: moneyIn(currency)(wager) }));
      this.#showWhose();
    });
    this.when("meter", [progressive.progressive, phase, meter, currency], () => this.#showMeter(progressive, before));
    this.when("tiers", [tiers, currency], () => this.#showTiers(progressive));
    this.#showAward(progressive);
  }

  /**
   * @param {Progressive} now
   * @param {Progressive | null} before
   */
  #showMeter({ progressive, phase, meter, currency }, before) {
    const money = moneyIn(currency, { whole: false });
    const same = before?.progressive === progressive && before.currency === currency && before.phase === phase;
    this.#odometer.show(meter, money, same);
    this.text("phase", phase === "open" ? "" : t(`meter.${phase}`));
    if (same && meter < before.meter) this.#showLess(money(before.meter - meter));
  }

  /** @param {string} amount */
  #showLess(amount) {
    /** @param {string} words */
    const tell = (words) => {
      this.text("less", words);
      this.element.classList.toggle("less-than-before", words !== "");
      this.fitAll();
    };
    tell(`↓ ${amount}`);
    clearTimeout(this.#lessTimer);
    this.#lessTimer = setTimeout(tell, LESS_MILLISECONDS, "");
  }

  /** @param {Progressive} progressive */
  #showTiers({ tiers, currency }) {
    const money = moneyIn(currency, { whole: false });
    const box = this.one("tiers");
    box.style.setProperty("--half", String(Math.ceil(tiers.length / 2)));
    box.replaceChildren(
      ...tiers.map((tier) =>
        element(
          "div",
          { class: tier.of_meter ? "of-meter" : null },
          element("dt", {}, hand(tier)),
          element("dd", {}, tier.of_meter ? money(tier.amount) : pays(tier.pays)),
        ),
      ),
    );
    this.fitAll();
  }

  // --- the last award: news for a minute, and a line after that

  /** @param {Progressive} progressive */
  #showAward(progressive) {
    const { award, ts, currency } = progressive;
    const news = newAward(progressive);
    const told = award === null ? "" : when(new Date(award.won), new Date(ts));
    this.when("award", [award, told, news !== null, [...this.#names]], () => {
      this.element.classList.toggle("won", news !== null);
      this.element.classList.toggle("whole", news?.whole_meter ?? false);
      this.one("last").hidden = award === null;
      if (award === null) return;
      const money = moneyIn(currency, { whole: false });
      // A table of another display has no name here, and its id tells players nothing.
      const place = [this.#names.get(award.table), winners(award)].filter((each) => each).join(" · ");
      const shares = award.shares ?? [];
      this.text("what", t(award.whole_meter ? "award.whole" : "award.won"));
      for (const box of this.all(".won-amount")) box.textContent = money(award.amount);
      for (const box of this.all(".won-hand")) box.textContent = hand(award);
      for (const box of this.all(".won-at")) box.textContent = place;
      this.text("won-when", told);
      this.one("shares").replaceChildren(
        ...(shares.length > 1 ? shares : []).map((each) =>
          element("span", {}, seat(each.seat), " ", element("b", {}, money(each.amount))),
        ),
      );
      this.fitAll();
    });
    if (award !== null) this.#askForName(award);
  }

  /**
   * Another table that shares the meter has the name that the display knows.
   * @param {MeterAward} won
   */
  async #askForName({ award, table }) {
    if (this.#names.has(table) || table === this.table || this.#asked.has(award)) return;
    this.#asked.add(award);
    try {
      /** @type {NamedTable[]} */
      const tables = await (await fetch("/tables")).json();
      this.#nameTables(tables);
    } catch {
      this.#asked.delete(award); // the server is unavailable; the next message asks again
    }
  }

  /** @param {NamedTable[]} tables */
  #nameTables(tables) {
    for (const { id, name } of tables) if (name !== null) this.#names.set(id, this.nameOf(id, name));
    this.when("names", [...this.#names], () => this.#showWhose());
    if (this.#progressive !== null) this.#showAward(this.#progressive);
  }
  /** The table of the meter, or how many tables share it: then a player wins the same at each of them. */
  #showWhose() {
    const tables = this.#progressive?.tables.length ?? 1;
    this.text("table-name", tables > 1 ? t("meter.shared", { tables }) : (this.#names.get(this.table) ?? ""));
    this.fitAll();
  }
}
