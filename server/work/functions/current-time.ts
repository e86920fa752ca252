import { z } from "zod";
import { defineFunction, FunctionError } from "@/server/work/functions/core/define";

export const currentTime = defineFunction({
  name: "current_time",
  title: "Current time",
  description: "Returns the current date and time, in UTC or in a time zone such as Europe/Berlin.",
  input: z.object({
    timezone: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('An IANA time zone name such as "Europe/Berlin". Default: UTC.'),
  }),
  output: z.object({
    iso: z.string().describe("The moment in UTC, ISO 8601."),
    timezone: z.string().describe("The IANA name of the time zone."),
    local: z.string().describe("Date, time and offset in the time zone, ISO 8601."),
    date: z.string().describe("YYYY-MM-DD in the time zone."),
    time: z.string().describe("HH:MM:SS in the time zone."),
    weekday: z.string().describe("In English, such as Monday."),
    utcOffset: z.string().describe("Such as +01:00."),
    unixSeconds: z.int().describe("Whole seconds since 1970-01-01T00:00:00Z."),
  }),
  errors: { unknown_timezone: "The time zone is not an IANA name." },
  hasSideEffects: false,
  timeoutMs: 1000,
  example: {
    input: { timezone: "Europe/Berlin" },
    output: {
      iso: "2026-03-04T05:06:07.000Z",
      timezone: "Europe/Berlin",
      local: "2026-03-04T06:06:07+01:00",
      date: "2026-03-04",
      time: "06:06:07",
      weekday: "Wednesday",
      utcOffset: "+01:00",
      unixSeconds: 1772600767,
    },
  },
  findIssues: ({ timezone }) =>
    typeof timezone !== "string" || timezone.includes("{{") || formatOf(timezone) !== null
      ? []
      : [{ path: "/timezone", message: describeUnknown(timezone) }],
  async run({ timezone = "UTC" }, { clock }) {
    const format = formatOf(timezone);
    if (format === null) throw new FunctionError("unknown_timezone", `${describeUnknown(timezone)}.`);
    const now = clock.now();
    const parts = new Map(format.formatToParts(now).map((part) => [part.type, part.value]));
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? "";
    const date = `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}`;
    const time = `${part("hour")}:${part("minute")}:${part("second")}`;
    // "GMT" alone means no offset.
    const offset = part("timeZoneName").replace("GMT", "") || "+00:00";
    return {
      iso: now.toISOString(),
      timezone: format.resolvedOptions().timeZone,
      local: `${date}T${time}${offset}`,
      date,
      time,
      weekday: part("weekday"),
      utcOffset: offset,
      unixSeconds: Math.floor(now.getTime() / 1000),
    };
  },
});

function formatOf(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      weekday: "long",
      timeZoneName: "longOffset",
    });
  } catch {
    return null;
  }
}

const describeUnknown = (name: string) =>
  `"${name.slice(0, 100)}" is not a time zone; use a name such as "Europe/Berlin" or "UTC"`;
