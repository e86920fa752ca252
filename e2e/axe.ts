import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, type Page } from "@playwright/test";
import { z } from "zod";

/** The minified script: each page that is checked compiles it. */
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const findings = z.array(
  z.object({ id: z.string(), impact: z.string().nullable(), nodes: z.array(z.string()) }),
);

/** Rules that cost time and have no serious finding. */
const MINOR = ["region", "heading-order", "landmark-unique", "aria-allowed-role", "page-has-heading-one"];
const without = (ids: string[]) => ({
  rules: Object.fromEntries(ids.map((id) => [id, { enabled: false }])),
});

/**
 * What axe checks: everything in the light theme; only contrast in the dark one, which has the same markup; all but
 * contrast on a phone.
 */
const WHOLE = without(MINOR);
const CONTRAST = { runOnly: { type: "rule", values: ["color-contrast"] } };
const NO_CONTRAST = without([...MINOR, "color-contrast"]);

async function findFaults(page: Page, questions: object = WHOLE) {
  // The pages' content security policy refuses foreign scripts; the debugger's own channel is exempt.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const found = await page.evaluate(async (asked) => {
    const run = Reflect.get(Reflect.get(window, "axe"), "run");
    // Base UI's focus guards take the focus only to pass it on.
    const within = { include: [["html"]], exclude: [["[data-base-ui-focus-guard]"]] };
    const { violations } = await run(within, { resultTypes: ["violations"], ...asked });
    return violations.map(
      ({ id, impact, nodes }: { id: string; impact: string; nodes: { html: string }[] }) => ({
        id,
        impact,
        nodes: nodes.map((node) => node.html),
      }),
    );
  }, questions);
  return findings.parse(found).filter(({ impact }) => impact === "serious" || impact === "critical");
}

/** Checks the light theme, then the dark one. */
export async function expectNoFaults(page: Page, what: string) {
  expect(await findFaults(page), what).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await findFaults(page, CONTRAST), `${what}, dark`).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
}

export const WIDE = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };
export const VIEWS = [
  { name: "wide", viewport: WIDE, expectNoFaults },
  {
    name: "phone",
    viewport: PHONE,
    async expectNoFaults(page: Page, what: string) {
      expect(await findFaults(page, NO_CONTRAST), `${what}, on a phone`).toEqual([]);
    },
  },
] as const;

/** Checks an open dialog on a wide page in both themes and on a phone, where nothing may scroll sideways. */
export async function expectNoFaultsAnywhere(page: Page, what: string): Promise<void> {
  for (const view of VIEWS) {
    await page.setViewportSize(view.viewport);
    await view.expectNoFaults(page, what);
    const sideways = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(sideways, `${what} scrolls sideways on a ${view.name} page`).toBe(0);
  }
  await page.setViewportSize(WIDE);
}
