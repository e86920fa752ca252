import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type BrowserContext, expect, type Page } from "@playwright/test";
import { z } from "zod";

/** Minified, because each checked page compiles it. */
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const findings = z.array(
  z.object({ id: z.string(), impact: z.string().nullable(), nodes: z.array(z.string()) }),
);

/** Rules below serious that count nevertheless. */
const COUNTED = ["region", "empty-table-header"];
/** Rules that cost time and have no serious finding. */
const MINOR = ["heading-order", "landmark-unique", "aria-allowed-role", "page-has-heading-one"];
const without = (ids: string[]) => ({
  rules: Object.fromEntries(ids.map((id) => [id, { enabled: false }])),
});

/** The dark theme has the same markup, so that only contrast is checked there; on a phone, all but contrast. */
// Targets of less than 24 px are a rule of WCAG 2.2, which axe leaves out by default.
const TARGETS = { "target-size": { enabled: true } };
const WHOLE = { rules: { ...without(MINOR).rules, ...TARGETS } };
const CONTRAST = { runOnly: { type: "rule", values: ["color-contrast"] } };
const NO_CONTRAST = { rules: { ...without([...MINOR, "color-contrast"]).rules, ...TARGETS } };

/** Loads axe with each page, which is much faster than `evaluate`. */
export const loadAxe = (context: BrowserContext) => context.addInitScript({ content: AXE });

/** An open menu belongs to its button, which is in a landmark. */
const isMenu = (node: string, rule: string) => rule === "region" && node.includes('role="menu"');

/** The keyboard scrolls an editor's list of completions from the text, as the list of a combobox. */
const isOffers = (node: string, rule: string) =>
  rule === "scrollable-region-focusable" && node.includes('aria-label="Completions"');

async function findIssues(page: Page, questions: object = WHOLE) {
  // The pages' content security policy blocks foreign scripts; the debugger's own channel is exempt.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const found = await page.evaluate(async (asked) => {
    const run = Reflect.get(Reflect.get(window, "axe"), "run");
    // Base UI's focus guards take the focus only to pass it on.
    const within = { include: [["html"]], exclude: [["[data-base-ui-focus-guard]"]] };
    // Only rules of audio and video need what it would load and parse before.
    const { violations } = await run(within, { resultTypes: ["violations"], preload: false, ...asked });
    return violations.map(
      ({ id, impact, nodes }: { id: string; impact: string; nodes: { html: string }[] }) => ({
        id,
        impact,
        nodes: nodes.map((node) => node.html),
      }),
    );
  }, questions);
  return findings
    .parse(found)
    .map(({ nodes, ...finding }) => ({
      ...finding,
      nodes: nodes.filter((node) => !isOffers(node, finding.id) && !isMenu(node, finding.id)),
    }))
    .filter(
      ({ id, impact, nodes }) =>
        nodes.length > 0 && (impact === "serious" || impact === "critical" || COUNTED.includes(id)),
    );
}

const WIDE = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

async function expectAccessibleWide(page: Page, what: string): Promise<void> {
  expect(await findIssues(page), what).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await findIssues(page, CONTRAST), `${what}, dark`).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
}

export async function expectAccessibleOnPhone(page: Page, what: string): Promise<void> {
  expect(await findIssues(page, NO_CONTRAST), `${what}, on a phone`).toEqual([]);
}

/** Returns after two frames, because what observes sizes is told at the end of the first. */
async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(size);
  await page.evaluate(
    () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );
}

/**
 * Checks a page and its open parts: wide in both themes, and on a phone. Open parts stay open, and nothing may
 * scroll sideways.
 */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  const open = page.locator("[role=dialog], [role=menu]");
  const opened = await open.count();
  for (const [width, expectAccessibleAt] of [
    [WIDE, expectAccessibleWide],
    [PHONE, expectAccessibleOnPhone],
  ] as const) {
    await resize(page, width);
    await expect(open, `${what} stays open`).toHaveCount(opened);
    await expectAccessibleAt(page, what);
    const sideways = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(sideways, `${what} scrolls sideways at ${width.width} pixels`).toBe(0);
  }
  await resize(page, WIDE);
}
