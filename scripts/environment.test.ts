import { afterEach, expect, test, vi } from "vitest";
import { checkPort, describePortError } from "./environment.mjs";

afterEach(() => vi.unstubAllEnvs());

test("a HOST that is not an address of this machine is reported as such", async () => {
  vi.stubEnv("PORT", "0");
  vi.stubEnv("HOST", "192.0.2.1");
  await expect(checkPort()).rejects.toThrow(/^HOST is "192\.0\.2\.1"/);
});

test.each([
  [80, "EACCES", "PORT=8080 npm start. A reverse proxy"],
  [443, "EACCES", "PORT=8443 npm start. A reverse proxy"],
  [
    3000,
    "EADDRINUSE",
    "Port 3000 is taken by another process. Choose another, for instance: PORT=3001 npm start.",
  ],
])("the way out of port %i (%s) is a port that can be used", (port, issue, expected) => {
  expect(describePortError(port, issue)).toContain(expected);
});
