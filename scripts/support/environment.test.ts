import { afterEach, expect, test, vi } from "vitest";
import { checkPort } from "./environment.mjs";

afterEach(() => vi.unstubAllEnvs());

test("a HOST that is not an address of this machine is reported as such", async () => {
  vi.stubEnv("PORT", "0");
  vi.stubEnv("HOST", "192.0.2.1");
  await expect(checkPort()).rejects.toThrow(/^HOST is "192\.0\.2\.1"/);
});
