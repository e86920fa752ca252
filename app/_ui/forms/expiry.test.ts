import { expect, test } from "vitest";
import { readExpiry } from "./expiry";

const NOW = Date.parse("2026-11-22T12:00:00Z");

test("a choice is sent as a time, and never as null", () => {
  const sent = (expiry: Parameters<typeof readExpiry>[0]["expiry"], kept: string | null = null) =>
    readExpiry({ expiry, date: "" }, { now: NOW, timeZone: "UTC", kept }).sent.expiresAt;
  expect(sent("30")).toBe("2026-12-22T12:00:00.000Z");
  expect(sent("kept", "2026-12-01T00:00:00.000Z")).toBe("2026-12-01T00:00:00.000Z");
  expect(sent("never")).toBeNull();
});

test("an expiry that has passed needs a choice", () => {
  const { issues } = readExpiry({ expiry: "none", date: "" }, { now: NOW, timeZone: "UTC" });
  expect(issues).toHaveProperty("/expiresAt");
});

test("a date is sent as the end of that day where the reader is, and is an issue if it is missing", () => {
  const read = (date: string) => readExpiry({ expiry: "date", date }, { now: NOW, timeZone: "Asia/Tokyo" });
  expect(read("").issues).toHaveProperty("/expiresAt");
  expect(read("2026-12-01")).toEqual({ sent: { expiresAt: "2026-12-01T14:59:59.000Z" }, issues: {} });
});
