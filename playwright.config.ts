import { defineConfig, devices } from "@playwright/test";
import { clearSettings } from "./scripts/environment.mjs";
import { createThrowaway } from "./scripts/postgres/throwaway.mjs";
import { findBrowser } from "./scripts/support/browser.mjs";
import { freePort } from "./scripts/support/ports.mjs";

/**
 * Browser and API tests against the built service, started like `npm start`, on its own database. Workers read this
 * file again, so shared values are in the environment.
 */
clearSettings();
process.env.STEPWELL_E2E_PORT ??= String(await freePort());
process.env.STEPWELL_E2E_SLOW_SERVER_PORT ??= String(await freePort());
process.env.STEPWELL_E2E_DATA ??= await createThrowaway();
const {
  STEPWELL_E2E_PORT: port,
  STEPWELL_E2E_SLOW_SERVER_PORT: slowServerPort,
  STEPWELL_E2E_DATA: dataDir,
} = process.env;
const browser = await findBrowser();
const baseURL = `http://localhost:${port}`;

export default defineConfig({
  testDir: "e2e",
  fullyParallel: true,
  workers: 2,
  forbidOnly: process.env.CI !== undefined,
  // Generous for small and busy machines. Tests wait for facts, never for a time.
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: "list",
  globalSetup: "./e2e/support/global-setup.ts",
  use: {
    ...devices["Desktop Chrome"],
    baseURL,
    // A context for each test cost a sixth of the suite's time. Cookies, storage and routes are cleared between tests;
    // permissions and `setOffline` are not, so a test that changes them changes them back.
    reuseContext: true,
    // Requests that pass a service worker cannot be held back by `page.route`.
    serviceWorkers: "block",
    // Spinners are painted over and over without a graphics card.
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: {
      ...(browser?.executablePath === undefined ? {} : { executablePath: browser.executablePath }),
      // Chromium has no sandbox as root, and containers have a small /dev/shm.
      args: ["--no-sandbox", "--disable-dev-shm-usage"],
    },
  },
  webServer: {
    command: `${JSON.stringify(process.execPath)} scripts/start.mjs`,
    url: `${baseURL}/api/ready`,
    env: {
      PORT: port,
      STEPWELL_DATA_DIR: dataDir,
      LOG_LEVEL: "warn",
      EGRESS_ALLOW: `127.0.0.1:${slowServerPort}`,
    },
    timeout: 600_000,
    gracefulShutdown: { signal: "SIGTERM", timeout: 20_000 },
    stdout: "ignore",
    stderr: "pipe",
  },
});
