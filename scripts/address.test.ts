import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { adoptAddress, noteAddress } from "./address.mjs";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stepwell-address-"));
  vi.stubEnv("STEPWELL_DATA_DIR", folder);
  vi.stubEnv("APP_URL", "");
  vi.stubEnv("PORT", "");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

test("a command learns the running service's address, unless it is told one", () => {
  const forget = noteAddress("http://localhost:4711");
  vi.stubEnv("PORT", "5000");
  adoptAddress();
  expect(process.env.APP_URL).toBe("");
  vi.stubEnv("PORT", "");
  adoptAddress();
  expect(process.env.APP_URL).toBe("http://localhost:4711");
  forget();
  vi.stubEnv("APP_URL", "");
  adoptAddress();
  expect(process.env.APP_URL).toBe("");
});

test("a missing data folder harms nothing", () => {
  vi.stubEnv("STEPWELL_DATA_DIR", join(folder, "missing"));
  noteAddress("http://localhost:4711")();
  adoptAddress();
  expect(process.env.APP_URL).toBe("");
});
