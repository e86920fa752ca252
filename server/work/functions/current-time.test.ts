import { expect, test } from "vitest";
import { executeFunction } from "@/server/work/functions/core/execute";
import { testClock } from "@/testing/clock";
import { testFunctionContext } from "@/testing/function-context";

const at = (moment: string, timezone?: string) =>
  executeFunction("current_time", {
    input: timezone === undefined ? {} : { timezone },
    context: testFunctionContext({ clock: testClock(moment) }),
  });

test("defaults to UTC", async () => {
  expect(await at("2026-03-04T00:06:07.000Z")).toEqual({
    iso: "2026-03-04T00:06:07.000Z",
    timezone: "UTC",
    local: "2026-03-04T00:06:07+00:00",
    date: "2026-03-04",
    time: "00:06:07",
    weekday: "Wednesday",
    utcOffset: "+00:00",
    unixSeconds: 1772582767,
  });
});

test("returns the local time of a zone, with daylight saving and half hours", async () => {
  expect(await at("2026-07-01T22:30:00.000Z", "Europe/Berlin")).toMatchObject({
    local: "2026-07-02T00:30:00+02:00",
    weekday: "Thursday",
  });
  expect(await at("2026-07-01T22:30:00.000Z", "Asia/Kolkata")).toMatchObject({
    local: "2026-07-02T04:00:00+05:30",
  });
});

test("an unknown zone is a clear error", async () => {
  await expect(at("2026-07-01T22:30:00.000Z", "Mars/Olympus")).rejects.toThrow(
    '"Mars/Olympus" is not a time zone',
  );
});
