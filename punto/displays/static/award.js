// A progressive's award and the winning hands, in words.

import { orElse, t } from "/shared/catalogue.js";
import { tellTimesBy } from "/shared/times.js";

/** @import { MeterAward, MeterTier, Progressive } from "#sent/displays" */

const NEWS_MILLISECONDS = 10_000; // so long the tiers may be out of sight

/**
 * The award that is news in a progressive's message, or null: its times are of one clock, the screen's is not used.
 * @param {Progressive} message
 */
export function newAward({ ts, award }) {
  return award !== null && Math.abs(Date.parse(ts) - Date.parse(award.won)) < NEWS_MILLISECONDS ? award : null;
}

/**
 * The condition on the hand.
 * @param {MeterTier | MeterAward} tier
 */
export const hand = ({ rule, title }) => orElse(`tier.${rule}`, title);

/**
 * The pay of a tier, as in its pay table.
 * @param {string} words
 */
export function pays(words) {
  const [, share] = /^(\d[\d.,]*%) of (?:the )?meter$/u.exec(words) ?? [];
  if (share) return t("pays.of_meter", { share });
  const [, times, kind] = /^(\d[\d.,]*) (for|to) 1$/u.exec(words) ?? [];
  return times ? t(`pays.${kind}`, { times }) : words;
}

/**
 * Show times by the clock of the house.
 * @param {string} zone
 */
export function keepTime(zone) {
  const { dataset } = document.documentElement;
  if (zone && zone !== dataset.zone) dataset.zone = tellTimesBy(zone);
}

/** @param {number} number */
export const seat = (number) => t("award.seat", { seat: number });

/**
 * The seat that gets an award, or the seats that divide it: nobody may read the whole amount as their own.
 * @param {MeterAward} award
 */
export function winners({ seats, shares = [] }) {
  const numbers = shares.length === 0 ? [...seats] : shares.map((each) => each.seat);
  if (numbers.length === 1) return seat(numbers[0]);
  numbers.sort((one, other) => one - other);
  const last = numbers.pop();
  return t("award.shared", { seats: `${numbers.join(t("list.comma"))}${t("list.last")}${last}` });
}

/**
 * A time relative to the time `now`: "today 21:05", by the house's clock.
 * @param {Date} then
 * @param {Date} now
 */
export function when(then, now) {
  const language = document.documentElement.lang;
  const { zone: timeZone } = document.documentElement.dataset;
  /** @param {Intl.DateTimeFormatOptions} how */
  const written = (how) => new Intl.DateTimeFormat(language, { ...how, timeZone }).format(then);
  const time = written({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const days = day(now, timeZone) - day(then, timeZone);
  if (days === 0) return t("when.today", { time });
  if (days === 1) return t("when.yesterday", { time });
  return `${written({ dateStyle: "medium" })} ${time}`;
}

/**
 * The number of a time's day in a zone; a day of 23 hours counts as one. The date is written as in ISO 8601, as in Sweden.
 * @param {Date} time
 * @param {string | undefined} timeZone
 */
const day = (time, timeZone) => Date.parse(new Intl.DateTimeFormat("sv", { timeZone }).format(time)) / 86_400_000;
