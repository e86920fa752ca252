/** The formats of all figures. Pure, so that server and browser render the same. */

/** A duration: `412 ms`, `3.42 s`, `2 min 05 s`, `1 h 02 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_995) return `${(ms / 1_000).toFixed(ms < 9_995 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${pad(seconds % 60)} s`;
  return `${Math.floor(seconds / 3_600)} h ${pad(Math.floor((seconds % 3_600) / 60))} min`;
}

/** A chosen length of time, usually a round one: `10 s`, `1.5 s`, `15 min`, `1 h 30 min`. */
export function formatSpan(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(2))} s`;
  return formatDuration(ms).replace(/ 00 (s|min)$/, "");
}

/** An integer with commas between the thousands: `1,284`. */
export function formatCount(count: number): string {
  return Math.round(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Stands for zero and for no value. */
export const NONE = "–";

/** A share in percent: `97.0%`; a dash if the total is 0. Only all is `100.0%`, and only nothing `0.0%`. */
export function formatShare(part: number, total: number): string {
  if (total === 0) return NONE;
  const share = (part / total) * 100;
  const isPart = share > 0 && share < 100;
  return `${(isPart ? Math.min(99.9, Math.max(0.1, share)) : share).toFixed(1)}%`;
}

/** A share in whole percent, for figures beside others: `80%`. */
export function formatWholeShare(part: number, total: number): string {
  return `${Math.round((part / total) * 100)}%`;
}

/** A share of 1 as a length in an SVG or a style: `12.500%`. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}

/** `1 step`, `4 steps`. */
export function formatPlural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** A credit amount from a decimal string, grouped: four decimals for one run, two for sums, where the rest is cut off. */
export function formatCredits(credits: string, decimalPlaces: 2 | 4 = 4): string {
  const sign = credits.startsWith("-") ? "−" : "";
  const [integer = "0", decimals = ""] = credits.replace("-", "").split(".");
  return `${sign}${formatCount(Number(integer))}.${decimals.padEnd(decimalPlaces, "0").slice(0, decimalPlaces)}`;
}

/** Formats usage: credits as a decimal string, or a number of tokens; a dash for zero. */
export function formatUsed(used: string | number): string {
  if (Number(used) === 0) return NONE;
  return typeof used === "number" ? formatCount(used) : formatCredits(used);
}

/** A difference with its sign, its size written as `write` does: `+12 ms`, `−0.5`, `±0`. */
export function formatDifference(difference: number, write: (size: number) => string): string {
  const size = write(Math.abs(difference));
  if (size === write(0)) return "±0";
  return `${difference < 0 ? "−" : "+"}${size}`;
}

/** Tokens of model calls: `1,042 in, 96 out`; a dash if there are none. */
export function formatTokens(input: number, output: number): string {
  return input + output === 0 ? NONE : `${formatCount(input)} in, ${formatCount(output)} out`;
}

/** Bytes as `812 B`, `4.1 KiB`, `3.2 MiB`, `41.2 GiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  let [size, unit] = [bytes, 0];
  // 1,023.96 KiB would round to 1,024.0 KiB.
  for (; size >= 1_023.95 && unit < BYTE_UNITS.length; unit += 1) size /= 1_024;
  return `${size.toFixed(1)} ${BYTE_UNITS[unit - 1]}`;
}

const BYTE_UNITS = ["KiB", "MiB", "GiB", "TiB"];

/** The time since a start, in two units: `6 d 4 h`; below a day as a duration. */
export function formatUptime(seconds: number): string {
  const hours = Math.floor(seconds / 3_600);
  return hours < 24 ? formatDuration(seconds * 1_000) : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/**
 * Relative time from `now`: `12 s ago`, `5 min ago`, `2 d ago`. After a week `21 Nov 01:22`; in other years the
 * day.
 */
export function formatAgo(at: Date, now: number, timeZone: string): string {
  const age = now - at.getTime();
  if (age < 2_500) return "now";
  if (age >= 7 * 86_400_000) {
    return isSameYear(at, now, timeZone) ? formatMinute(at, timeZone) : formatDate(at, timeZone);
  }
  return `${formatAge(age)} ago`;
}

/** An age in one unit: `12 s`, `5 min`, `3 h`, `2 d`. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

const dates = new Map<string, Intl.DateTimeFormat>();

function dateFormat(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${timeZone} ${JSON.stringify(options)}`;
  const known = dates.get(key);
  if (known) return known;
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, ...options });
  dates.set(key, format);
  return format;
}

/** `21 Nov 2026`. */
export function formatDate(at: Date, timeZone: string): string {
  return dateFormat(timeZone, { day: "numeric", month: "short", year: "numeric" }).format(at);
}

/** `21 Nov 01:22:07`; with the year if it is not the year of `now`: `31 Jan 2027 01:00:00`. */
export function formatMoment(at: Date, timeZone: string, now: number): string {
  const day = isSameYear(at, now, timeZone) ? formatDay(at, timeZone) : formatDate(at, timeZone);
  return `${day} ${formatTimeOfDay(at, timeZone)}`;
}

function isSameYear(at: Date, now: number, timeZone: string): boolean {
  const { format } = dateFormat(timeZone, { year: "numeric" });
  return format(at) === format(now);
}

/** `21 Nov 01:22`. */
export function formatMinute(at: Date, timeZone: string): string {
  return `${formatDay(at, timeZone)} ${formatTimeOfDay(at, timeZone).slice(0, 5)}`;
}

/** `21 Nov`. */
export function formatDay(at: Date, timeZone: string): string {
  return dateFormat(timeZone, { day: "numeric", month: "short" }).format(at);
}

/** `Sat`. */
export function formatWeekday(at: Date, timeZone: string): string {
  return dateFormat(timeZone, { weekday: "short" }).format(at);
}

/** `01:22:07`. */
export function formatTimeOfDay(at: Date, timeZone: string): string {
  return dateFormat(timeZone, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  }).format(at);
}

/** `21 Nov 2026, 01:22:07.123 UTC`, for title attributes. */
export function formatExact(at: Date, timeZone: string): string {
  return `${formatDate(at, timeZone)}, ${formatTimeOfDay(at, timeZone)}.${String(at.getUTCMilliseconds()).padStart(3, "0")} ${timeZone}`;
}

/** The first and last characters of a UUID: `0193…a7f0`. */
export function shortId(id: string): string {
  return `${id.slice(0, 4)}…${id.slice(-4)}`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
