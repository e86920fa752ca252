import { describe, expect, it, onTestFinished, vi } from "vitest";
import { isTimeZone } from "./time-zone";
import { describeRuleIssue, nextTimes } from "./times";

const of = (cron: string, timeZone: string, { after, limit = 4 }: { after: string; limit?: number }) =>
  nextTimes({ cron, timeZone }, { after: new Date(after), limit }).map((at) => at.toISOString().slice(0, 16));

describe("next times", () => {
  it("are in UTC, after the given moment and up to an end", () => {
    expect(of("*/15 7-19 * * MON-SAT", "UTC", { after: "2026-11-28T19:30:00Z", limit: 3 })).toEqual([
      "2026-11-28T19:45",
      "2026-11-30T07:00",
      "2026-11-30T07:15",
    ]);
    const rule = { cron: "0 * * * *", timeZone: "UTC" };
    const bounds = { after: new Date("2026-11-28T10:00:00Z"), until: new Date("2026-11-28T12:00:00Z") };
    expect(nextTimes(rule, { ...bounds, limit: 10 })).toHaveLength(2);
  });

  it("know the last day of a month and leap years", () => {
    const after = "2027-11-30T00:00:00Z";
    expect(of("0 6 L * *", "UTC", { after, limit: 4 })).toEqual([
      "2027-11-30T06:00",
      "2027-12-31T06:00",
      "2028-01-31T06:00",
      "2028-02-29T06:00",
    ]);
    expect(of("0 0 29 2 *", "UTC", { after, limit: 2 })).toEqual(["2028-02-29T00:00", "2032-02-29T00:00"]);
  });

  it("need both the day and the weekday if one of them begins with *, as in crontab", () => {
    const after = "2026-11-01T00:00:00Z";
    const days = (cron: string) => of(cron, "UTC", { after }).map((time) => time.slice(8, 10));
    expect(days("0 8 */2 * MON")).toEqual(["09", "23", "07", "21"]);
    expect(days("0 8 13 * FRI#2")).toEqual(["13", "11", "13", "08"]);
    expect(days("0 8 1,15 * MON")).toEqual(["01", "02", "09", "15"]);
    expect(days("0 8 * * MON")).toEqual(["02", "09", "16", "23"]);
    expect(days("0 8 9 * */2")).toEqual(["09", "09", "09", "09"]);
  });

  it.each([
    // Clocks go forward from 02:00 to 03:00 at 01:00 UTC.
    ["Europe/Berlin", "30 2 * * *", "2027-03-27T00:00:00Z", ["27T01:30", "28T01:00", "29T00:30", "30T00:30"]],
    ["Europe/Berlin", "*/20 2 28 3 *", "2027-03-28T00:00:00Z", ["28T01:00"]],
    ["Europe/Berlin", "0 * * * *", "2027-03-27T23:30:00Z", ["28T00:00", "28T01:00", "28T02:00", "28T03:00"]],
    // Clocks go back from 03:00 to 02:00 at 01:00 UTC.
    ["Europe/Berlin", "30 2 * * *", "2026-10-24T12:00:00Z", ["25T00:30", "26T01:30"]],
    ["Europe/Berlin", "0 * * * *", "2026-10-24T23:30:00Z", ["25T00:00", "25T02:00", "25T03:00"]],
    ["Europe/Berlin", "30 2 * * *", "2026-10-25T01:10:00Z", ["26T01:30"]],
    // Forward at 07:00 UTC, back at 06:00 UTC.
    ["America/New_York", "30 2 * * *", "2026-03-08T00:00:00Z", ["08T07:00", "09T06:30"]],
    ["America/New_York", "15 1 * * *", "2026-11-01T00:00:00Z", ["01T05:15", "02T06:15"]],
    // Half an hour: forward at 15:30 UTC, from 02:00 to 02:30; back at 15:00 UTC, from 02:00 to 01:30.
    ["Australia/Lord_Howe", "15 2 * * *", "2026-10-03T00:00:00Z", ["03T15:30", "04T15:15"]],
    ["Australia/Lord_Howe", "45 1 * * *", "2027-04-03T00:00:00Z", ["03T14:45", "04T15:15"]],
    ["Australia/Lord_Howe", "*/15 1 * * *", "2027-04-03T14:20:00Z", ["03T14:30", "03T14:45", "04T14:30"]],
  ])("in %s follow the clock: %s", (zone, cron, after, expected) => {
    const found = of(cron, zone, { after, limit: expected.length });
    expect(found.map((time) => time.slice(8))).toEqual(expected);
  });
});

describe("a rule's issue", () => {
  const after = new Date("2026-11-26T00:00:00Z");
  it.each([
    ["0 8 * * MON-FRI", "Europe/Berlin", null],
    ["0 8 * * *", "Mars/Base", { field: "timeZone" }],
    ["0 8 * * *", "+01:00", { field: "timeZone" }],
    ["0 0 8 * * *", "UTC", { field: "cron", message: /five fields/ }],
    ["@daily", "UTC", { field: "cron", message: /five fields/ }],
    ["0 25 * * *", "UTC", { field: "cron", message: /not a cron expression/ }],
    ["0 0 30 2 *", "UTC", { field: "cron", message: /no time/ }],
  ])("%s in %s", (cron, timeZone, expected) => {
    const issue = describeRuleIssue({ cron, timeZone }, after);
    if (expected === null) expect(issue).toBeNull();
    else
      expect(issue).toMatchObject({
        ...expected,
        message: expect.stringMatching("message" in expected ? expected.message : /zone/),
      });
  });
});

describe("the name of a time zone", () => {
  it("has one format in memory, in whatever case it is written", () => {
    const created = vi.spyOn(Intl, "DateTimeFormat");
    onTestFinished(() => created.mockRestore());
    const name = "america/argentina/comodrivadavia";
    for (let at = 0; at < name.length; at += 1) {
      const spelling = name.slice(0, at) + name.slice(at).toUpperCase();
      expect(isTimeZone(spelling)).toBe(true);
    }
    expect(created.mock.calls.length).toBeLessThanOrEqual(1);
  });

  it("has only ASCII letters, also if the same name was seen before", () => {
    expect(isTimeZone("Asia/Kolkata")).toBe(true);
    // The sign for Kelvin, whose lower case is k.
    expect(isTimeZone("Asia/\u212Aolkata")).toBe(false);
    expect(isTimeZone("Europe/Berlin ")).toBe(false);
  });
});
