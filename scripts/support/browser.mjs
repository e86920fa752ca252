import { existsSync } from "node:fs";
import { SetupError, timed } from "./project.mjs";
import { runProgram } from "./run-program.mjs";

/** The headless shell starts much faster than the complete browser. */
const SYSTEM_BROWSERS = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/**
 * The Chromium for the browser tests: Playwright's own (undefined path: Playwright finds it) or the system's.
 * @returns {Promise<{ executablePath: string | undefined } | undefined>} undefined if there is none
 */
export async function findBrowser() {
  const { chromium } = await import("@playwright/test");
  if (existsSync(chromium.executablePath())) return { executablePath: undefined };
  const executablePath = SYSTEM_BROWSERS.find((path) => existsSync(path));
  return executablePath === undefined ? undefined : { executablePath };
}

/** Makes sure that there is a browser: as root it installs Debian's Chromium, otherwise it explains how to. */
export async function ensureBrowser() {
  if (await findBrowser()) return;
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    await timed("Installing Chromium for the browser tests", async () => {
      const env = { DEBIAN_FRONTEND: "noninteractive" };
      const install = (/** @type {string} */ name) =>
        runProgram("apt-get install", ["apt-get", "install", "-qy", "--no-install-recommends", name], {
          env,
        });
      await runProgram("apt-get update", ["apt-get", "update", "-q"], { env });
      // Older releases have only the complete browser.
      await install("chromium-headless-shell").catch(() => install("chromium"));
    });
    if (await findBrowser()) return;
  }
  throw new SetupError(
    "The browser tests need Chromium. Install it by one of\n" +
      "  sudo apt-get install chromium-headless-shell\n" +
      "  npx playwright install --with-deps chromium\n" +
      "and run `npm test` again. The other tests run without it: npx vitest run",
  );
}
