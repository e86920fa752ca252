import type { Page } from "@playwright/test";
import axe from "axe-core";
import { z } from "zod";
import { expect, test } from "./fixtures";
import { finishRun } from "./start";

/** Each page in both themes and on a phone: no serious axe finding, no error in the console, nothing sideways. */

const findings = z.array(
  z.object({ id: z.string(), impact: z.string().nullable(), nodes: z.array(z.string()) }),
);

async function findFaults(page: Page) {
  // The policy of our pages refuses foreign scripts; the debugger's own channel is not bound by it.
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const run = Reflect.get(Reflect.get(window, "axe"), "run");
    const { violations } = await run(document, { resultTypes: ["violations"] });
    return violations.map(
      ({ id, impact, nodes }: { id: string; impact: string; nodes: { html: string }[] }) => ({
        id,
        impact,
        nodes: nodes.map((node) => node.html),
      }),
    );
  });
  return findings.parse(found).filter(({ impact }) => impact === "serious" || impact === "critical");
}

const VIEWS = [
  { name: "light", colorScheme: "light", viewport: { width: 1280, height: 800 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1280, height: 800 } },
  { name: "phone", colorScheme: "light", viewport: { width: 390, height: 844 } },
] as const;

for (const view of VIEWS) {
  test.describe(view.name, () => {
    test.use({ colorScheme: view.colorScheme, viewport: view.viewport });

    test("sign-in", async ({ page }) => {
      await page.goto("/sign-in");
      await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
      expect(await findFaults(page)).toEqual([]);
    });

    test("every page", async ({ ownerPage: page, request, organization }) => {
      test.setTimeout(120_000);
      const agentRun = await finishRun(request, organization, { agent: "What is 6 * 7?" });
      const toolRun = await finishRun(request, organization, {
        tool: organization.toolId,
        input: { number: 2 },
      });
      const errors: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(`${page.url()}: ${message.text()}`);
      });
      page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.message}`));
      for (const path of [
        "/runs",
        "/runs?status=Failed&period=24h&q=nothing",
        `/runs/${agentRun}`,
        `/runs/${toolRun}?step=1`,
        `/runs/compare?a=${agentRun}&b=${toolRun}`,
        `/runs/compare?a=${agentRun}`,
        "/metrics",
        "/agents",
        "/tools",
        "/triggers",
        "/keys",
        `/agents/${organization.agentId}`,
        `/tools/${organization.toolId}`,
        `/triggers/${organization.triggerIds.doubles}`,
        "/credits",
        "/members",
        "/audit",
      ]) {
        await page.goto(path);
        await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
        expect(await findFaults(page), path).toEqual([]);
        const sideways = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect(sideways, `${path} scrolls sideways`).toBe(0);
      }
      expect(errors).toEqual([]);
    });
  });
}
