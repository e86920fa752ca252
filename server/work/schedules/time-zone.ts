import { DAY_MS } from "@/server/base/clock";

/** Local times are milliseconds as if the zone were UTC. */

// By names in lower case: some 600, while a name has millions of spellings. A format takes 40 KB outside the heap.
const FORMATS = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const name = timeZone.toLowerCase();
  const known = FORMATS.get(name);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  FORMATS.set(name, format);
  return format;
}

/** Returns true for a name of the IANA database, such as `Europe/Berlin` or `UTC`. */
export function isTimeZone(name: string): boolean {
  // Node also takes offsets such as +01:00. Letters outside ASCII may become ASCII in lower case.
  if (!/^[A-Za-z][!-~]*$/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

export function localTime(timeZone: string, at: number): number {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
}

const SECOND = 1_000;

/** The moment of a local time in whole seconds: the first one if it comes twice, the end of the gap if it is skipped. */
export function momentOf(timeZone: string, local: number): number {
  const offsetAt = (at: number) => localTime(timeZone, at) - at;
  const early = local - DAY_MS;
  const late = local + DAY_MS;
  const candidates = [local - offsetAt(early), local - offsetAt(late)].sort((a, b) => a - b);
  for (const at of candidates) if (localTime(timeZone, at) === local) return at;
  // The clocks go forward between the candidates.
  let [before = 0, after = 0] = candidates;
  while (after - before > SECOND) {
    const middle = before + Math.floor((after - before) / 2 / SECOND) * SECOND;
    if (localTime(timeZone, middle) < local) before = middle;
    else after = middle;
  }
  return after;
}
