// One table's progressive on the screen. All message content goes into the page as text, never as HTML.

import { hand, newAward, pays, seats, when } from "./award.js";
import { fillIn, moneyFormat, t } from "./catalogue.js";
import { element } from "./drawing.js";
import { fit } from "./fit.js";
import { showHouse } from "./house.js";
import { Live } from "./live.js";
import { Odometer } from "./odometer.js";

const LESS_MILLISECONDS = 10_000; // how long a decrease of the meter is shown
const NO_PROGRESSIVE = "The table has no progressive";

export class Sign {
  /** `house` has the display's settings of the house. `onPlay` is called when the meter shows something new. */
  constructor(table, house, onPlay) {
    this.element = document.getElementById("sign").content.firstElementChild.cloneNode(true);
    this.#table = table;
    this.#onPlay = onPlay;
    this.#live = new Live(this.element);
    this.#odometer = new Odometer(this.#one("odometer"));
    fillIn(this.element);
    showHouse(this.#one("logo"), house);
    this.#text("table-name", table); // until it says what it is called
    this.#text("not-live-reason", t("connecting"));
    new ResizeObserver(() => this.#fitAll()).observe(this.element);
  }

  #table;
  #onPlay;
  #live;
  #odometer;
  #progressive = null;
  #shown = new Map();
  #names = new Map();
  #asked = new Set();
  #lessTimer;

  /** Show the content of a stream event. */
  show(name, json) {
    const message = JSON.parse(json);
    if (name === "progressive") this.#showProgressive(message);
    else if (name === "progressive_live") this.showLive(message);
    else if (name === "state") this.#nameTables([{ id: this.#table, name: message.name }]);
    else if (name === "live" && this.#progressive === null) this.#showNone(message);
  }

  /** Live for this many milliseconds, then not live, or at once if they are 0, for the given reason. */
  showLive(word) {
    this.#live.show(word);
  }

  /** Without a progressive the sign is not live; the table itself may be live. */
  #showNone({ milliseconds, reason }) {
    this.showLive({ milliseconds: 0, reason: milliseconds > 0 ? NO_PROGRESSIVE : reason });
  }

  // --- the meter. It comes every second: unchanged parts are left as they are on the screen

  #showProgressive(progressive) {
    const before = this.#progressive;
    this.#progressive = progressive;
    this.element.dataset.phase = progressive?.phase ?? "none";
    if (progressive === null) return;
    const { title, phase, tables, meter, currency, wager, tiers } = progressive;
    this.#when("head", [title, tables.length], () => {
      document.title = title;
      this.#text("title", title);
      this.#text("shared", tables.length > 1 ? t("meter.shared", { tables: tables.length }) : "");
      this.#fitAll();
    });
    this.#when("meter", [progressive.progressive, phase, meter, currency], () => this.#showMeter(before));
    this.#when("tiers", [tiers, wager, currency], () => this.#showTiers());
    this.#showAward();
  }

  #showMeter(before) {
    const { progressive, phase, meter, currency } = this.#progressive;
    const money = moneyFormat(currency, { cents: true });
    const same = before?.progressive === progressive && before.currency === currency && before.phase === phase;
    this.#odometer.show(meter, money, same);
    this.#text("phase", phase === "open" ? "" : t(`meter.${phase}`));
    if (same && meter < before.meter) this.#showLess(money(before.meter - meter));
  }

  #showLess(amount) {
    const tell = (words) => {
      this.#text("less", words);
      this.element.classList.toggle("less-than-before", words !== "");
      this.#fitAll();
    };
    tell(`↓ ${amount}`);
    clearTimeout(this.#lessTimer);
    this.#lessTimer = setTimeout(tell, LESS_MILLISECONDS, "");
  }

  #showTiers() {
    const { tiers, wager, currency } = this.#progressive;
    const [money, exact] = [moneyFormat(currency), moneyFormat(currency, { cents: true })];
    const table = this.element.querySelector(".tiers table");
    table.querySelector(".now").textContent = t("tier.now", { wager: money(wager) });
    table.tBodies[0].replaceChildren(
      ...tiers.map((tier) => {
        const name = element("th", "", hand(tier));
        name.scope = "row";
        const amount = element("td", "", tier.of_meter ? exact(tier.amount) : money(tier.amount));
        return element("tr", tier.of_meter ? "of-meter" : "", name, element("td", "", pays(tier.pays)), amount);
      }),
    );
    fit(table);
  }

  // --- the last award: news for a minute, and a line after that

  #showAward() {
    const { award, ts, currency } = this.#progressive;
    const news = newAward(this.#progressive);
    const told = award && when(new Date(award.won), new Date(ts));
    this.#when("award", [award, told, news !== null, [...this.#names]], () => {
      this.element.classList.toggle("won", news !== null);
      this.element.classList.toggle("whole", news?.whole_meter ?? false);
      this.#one("last").hidden = award === null;
      if (award === null) return;
      const money = moneyFormat(currency, { cents: true });
      const place = `${this.#names.get(award.table) ?? award.table} · ${seats(award.seats)}`;
      this.#text("what", t(award.whole_meter ? "award.whole" : "award.won"));
      for (const box of this.#all(".won-amount")) box.textContent = money(award.amount);
      for (const box of this.#all(".won-hand")) box.textContent = hand(award);
      for (const box of this.#all(".won-at")) box.textContent = place;
      this.#text("won-when", told);
      this.#fitAll();
    });
    if (award !== null) this.#askForName(award);
  }

  /** Another table that shares the meter has the name that the display knows. */
  async #askForName({ award, table }) {
    if (this.#names.has(table) || table === this.#table || this.#asked.has(award)) return;
    this.#asked.add(award);
    try {
      const tables = await (await fetch("/tables")).json();
      this.#nameTables(tables.filter(({ name }) => name !== null));
    } catch {
      this.#asked.delete(award); // the server is unavailable; the next message asks again
    }
  }

  #nameTables(tables) {
    for (const { id, name } of tables) this.#names.set(id, name);
    this.#when("names", [...this.#names], () => {
      this.#text("table-name", this.#names.get(this.#table) ?? this.#table);
      this.#fitAll();
    });
    if (this.#progressive !== null) this.#showAward();
  }

  // --- shared helpers

  #one = (name) => this.element.querySelector(`.${name}`);
  #all = (selector) => this.element.querySelectorAll(selector);

  #text(name, text) {
    const box = this.#one(name);
    if (box.textContent !== text) box.textContent = text;
  }

  /** Do it if the shown value has changed. */
  #when(part, value, show) {
    const json = JSON.stringify(value);
    if (this.#shown.get(part) === json) return;
    show();
    this.#shown.set(part, json);
    this.#onPlay();
  }

  #fitAll() {
    // Boxes share lines: each is fitted beside the others at their largest, so that none later grows into another.
    for (const box of this.#all(".fit")) box.style.removeProperty("--fit");
    for (const box of this.#all(".fit")) fit(box);
  }
}
