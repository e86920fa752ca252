import { expect, test } from "vitest";
import { readExpiry } from "./expiry";

const NOW = Date.parse("2026-11-22T12:00:00Z");

test("a choice is sent as a time, and never as null", () => {
  const sent = (expiry: Parameters<typeof readExpiry>[0]["expiry"], kept: string | null = null) =>
    readExpiry({ expiry, date: "" }, { now: NOW, kept }).sent.expiresAt;
  expect(sent("30")).toBe("2026-12-22T12:00:00.000Z");
  expect(sent("kept", "2026-12-01T00:00:00.000Z")).toBe("2026-12-01T00:00:00.000Z");
  expect(sent("never")).toBeNull();
});

test("a date that is missing is an issue", () => {
  expect(readExpiry({ expiry: "date", date: "" }, { now: NOW }).issues).toHaveProperty("/expiresAt");
  expect(readExpiry({ expiry: "date", date: "2026-12-01" }, { now: NOW }).issues).toEqual({});
});
