import { DAY_MS } from "@/server/base/clock";
import { PERIOD_MS, RUN_PERIODS } from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { localTime, momentOf } from "@/server/work/schedules/time-zone";

/**
 * Reads a typed size, time or pair of metadata, such as `> 10 s`, `500 tokens`, `nov 20`, `last 3 days` or
 * `customer = acme`. Of a size without a comparison it returns both, without a unit all that fit. Days begin at
 * midnight in `timeZone`; a day without a year is the most recent one.
 */
export function readTyped(text: string, timeZone: string, now: Date = new Date()): RunFilter[] {
  const [, key, value] = PAIR.exec(text.trim()) ?? [];
  if (key !== undefined && value !== undefined) return [{ metadata: { [key]: value } }];
  const typed = text.trim().toLowerCase().replace(/\s+/g, " ");
  return readSpan(typed, now) ?? readDay(typed, { timeZone, now }) ?? readSize(typed);
}

/** Not a comparison such as `>= 10 s`. */
const PAIR = /^([^\s=<>]+)\s*=\s*(\S.*)$/;

const SIZE =
  /^(>=|<=|>|<|over|under|at least|at most|more than|less than)?\s*(\d{1,12}(?:\.\d{1,4})?)\s*([a-z]*)$/;
const UNITS = [
  { names: ["ms", "milliseconds"], ms: 1 },
  { names: ["", "s", "secs", "seconds"], ms: 1_000 },
  { names: ["m", "mins", "minutes"], ms: 60_000 },
  { names: ["h", "hrs", "hours"], ms: 3_600_000 },
];

function readSize(typed: string): RunFilter[] {
  const [, comparison, number = "", unit = ""] = SIZE.exec(typed) ?? [];
  if (number === "") return [];
  const above = comparison === undefined ? null : /^(>|over|at least|more)/.test(comparison);
  const both = (least: RunFilter, most: RunFilter) =>
    above === null ? [least, most] : above ? [least] : [most];
  const may = (name: string) => unit === "" || name.startsWith(unit);
  // `sec` and `second` are prefixes of `secs` and `seconds`.
  const found = UNITS.find(({ names }) =>
    names.some((word) => word === unit || (unit.length > 2 && word.startsWith(unit))),
  );
  const ms = Math.round(Number(number) * (found?.ms ?? Number.NaN));
  return [
    ...(Number.isSafeInteger(ms) ? both({ minDurationMs: ms }, { maxDurationMs: ms }) : []),
    ...(may("tokens") && /^\d+$/.test(number)
      ? both({ minTokens: Number(number) }, { maxTokens: Number(number) })
      : []),
    ...(may("credits") ? both({ minCredits: number }, { maxCredits: number }) : []),
  ];
}

const SPAN = /^(?:in )?(?:the )?(?:last|past) (\d{1,4}) ?([a-z]+)$/;
const SPANS = [
  { names: ["minutes", "mins"], minutes: 1 },
  { names: ["hours", "hrs"], minutes: 60 },
  { names: ["days"], minutes: 24 * 60 },
  { names: ["weeks"], minutes: 7 * 24 * 60 },
];

/** `last 3 days`: the 72 hours before now. A span that is offered as a period is that one. */
function readSpan(typed: string, now: Date): RunFilter[] | null {
  const [, number, unit = ""] = SPAN.exec(typed) ?? [];
  const found = SPANS.find(({ names }) => names.some((word) => word.startsWith(unit)));
  if (number === undefined || !found) return null;
  const minutes = Number(number) * found.minutes;
  if (minutes === 0) return [];
  const period = RUN_PERIODS.find((each) => PERIOD_MS[each] === minutes * 60_000);
  if (period !== undefined) return [{ period }];
  return [{ from: new Date(now.getTime() - minutes * 60_000).toISOString() }];
}

const DAY = /^(?:(since|from|after|before|until|on) )?(.+)$/;

function readDay(typed: string, { timeZone, now }: { timeZone: string; now: Date }): RunFilter[] | null {
  const [, word, name = ""] = DAY.exec(typed) ?? [];
  const day = nameDay(name, localTime(timeZone, now.getTime()));
  if (day === null) return null;
  const midnight = (later: number) => Date.UTC(day.year, day.month, day.day + later);
  const begin = new Date(midnight(0));
  // Such as the 31st of a shorter month.
  if (begin.getUTCDate() !== day.day || begin.getUTCMonth() !== day.month) return [];
  const momentAt = (local: number) => new Date(momentOf(timeZone, local)).toISOString();
  const [from, to] = [momentAt(midnight(0)), momentAt(midnight(1))];
  if (word === "before") return [{ to: from }];
  if (word === "until") return [{ to }];
  if (word === "after") return [{ from: to }];
  if (word !== undefined && word !== "on") return [{ from }];
  return [{ from, to }, ...(word === "on" ? [] : [{ from }, { to: from }])];
}

type Day = { year: number; month: number; day: number };

const MONTHS = Array.from({ length: 12 }, (_, month) =>
  new Date(2000, month).toLocaleString("en", { month: "long" }).toLowerCase(),
);
const ISO_DAY = /^(\d{4})-(\d{1,2})-(\d{1,2})$/;
const NAMED_DAY = /^(?:([a-z]{3,9})\.? (\d{1,2})|(\d{1,2})\.? ([a-z]{3,9})\.?)(?:,? (\d{4}))?$/;

/** The day may not exist in its month. `now`: as if the time zone were UTC. */
function nameDay(name: string, now: number): Day | null {
  if (name === "today" || name === "yesterday") {
    const at = new Date(name === "today" ? now : now - DAY_MS);
    return { year: at.getUTCFullYear(), month: at.getUTCMonth(), day: at.getUTCDate() };
  }
  const [, isoYear, isoMonth, isoDay] = ISO_DAY.exec(name) ?? [];
  if (isoYear !== undefined)
    return { year: Number(isoYear), month: Number(isoMonth) - 1, day: Number(isoDay) };
  const [, before, dayAfter, dayBefore, after, year] = NAMED_DAY.exec(name) ?? [];
  const word = before ?? after;
  const month = word === undefined ? -1 : MONTHS.findIndex((each) => each.startsWith(word));
  if (month < 0) return null;
  const day = Number(dayAfter ?? dayBefore);
  if (year !== undefined) return { year: Number(year), month, day };
  const thisYear = new Date(now).getUTCFullYear();
  return { year: Date.UTC(thisYear, month, day) > now ? thisYear - 1 : thisYear, month, day };
}
