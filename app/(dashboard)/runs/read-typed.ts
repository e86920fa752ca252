import type { RunFilter } from "@/server/runs/filter";

/**
 * What a typed text says about sizes and days: `> 10 s`, `under 2 min`, `500 tokens`, `<= 0.5 credits`, `2026-11-20`,
 * `since 2026-11-20`. Without a comparison both readings are offered, without a unit all that fit. Days are those of the
 * browser.
 */
export function readTyped(text: string): RunFilter[] {
  const typed = text.trim().toLowerCase();
  return readDay(typed) ?? readSize(typed);
}

const SIZE =
  /^(>=|<=|>|<|over|under|at least|at most|more than|less than)?\s*(\d{1,12}(?:\.\d{1,4})?)\s*([a-z]*)$/;
const UNITS = [
  { words: ["ms", "milliseconds"], ms: 1 },
  { words: ["", "s", "secs", "seconds"], ms: 1_000 },
  { words: ["m", "mins", "minutes"], ms: 60_000 },
  { words: ["h", "hrs", "hours"], ms: 3_600_000 },
];

function readSize(typed: string): RunFilter[] {
  const [, comparison, number = "", unit = ""] = SIZE.exec(typed) ?? [];
  if (number === "") return [];
  const above = comparison === undefined ? null : /^(>|over|at least|more)/.test(comparison);
  const both = (least: RunFilter, most: RunFilter) =>
    above === null ? [least, most] : above ? [least] : [most];
  const may = (name: string) => unit === "" || name.startsWith(unit);
  // `sec` and `second` begin `secs` and `seconds`.
  const found = UNITS.find(({ words }) =>
    words.some((word) => word === unit || (unit.length > 2 && word.startsWith(unit))),
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

const DAY = /^(since|from|after|before|until|on)?\s*(\d{4})-(\d{1,2})-(\d{1,2})$/;

function readDay(typed: string): RunFilter[] | null {
  const [, word, year, month, day] = DAY.exec(typed) ?? [];
  if (year === undefined) return null;
  const midnight = (later: number) => new Date(Number(year), Number(month) - 1, Number(day) + later);
  const begin = midnight(0);
  // The 31st of a shorter month, say.
  if (begin.getDate() !== Number(day) || begin.getMonth() !== Number(month) - 1) return [];
  const [from, to] = [begin.toISOString(), midnight(1).toISOString()];
  if (word === "before") return [{ to: from }];
  if (word === "until") return [{ to }];
  if (word === "after") return [{ from: to }];
  if (word !== undefined && word !== "on") return [{ from }];
  return [{ from, to }, ...(word === "on" ? [] : [{ from }, { to: from }])];
}
