import type { Page } from "@playwright/test";
import { expect, test } from "./support/fixtures";
import { release } from "./support/slow-server";
import { startRun } from "./support/start";

/** Nothing moves while a run is watched, on wide and narrow screens. */

/** Sums up layout shifts from now on, and names what shifted. */
async function watchShifts(page: Page): Promise<() => Promise<{ sum: number; moved: string[] }>> {
  await page.evaluate(() => {
    const seen = { sum: 0, moved: [] as string[] };
    Object.assign(window, { seen });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (!("value" in entry) || ("hadRecentInput" in entry && entry.hadRecentInput)) continue;
        seen.sum += Number(entry.value);
        const sources: unknown = Reflect.get(entry, "sources");
        for (const { node, previousRect: from, currentRect: to } of Array.isArray(sources) ? sources : []) {
          const what = node?.outerHTML ?? node?.textContent ?? "";
          const box = ({ x, y, width, height }: DOMRectReadOnly) => `${x},${y} ${width}×${height}`;
          seen.moved.push(
            `${Number(entry.value).toFixed(4)} ${box(from)} → ${box(to)}: ${what.slice(0, 160)}`,
          );
        }
      }
    }).observe({ type: "layout-shift" });
  });
  return async () => {
    // Shifts are reported with the frame after the next.
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    return page.evaluate(() => Reflect.get(window, "seen"));
  };
}

for (const width of [390, 1280]) {
  for (const fails of [true, false]) {
    test(`at ${width} pixels nothing moves while a run is watched until it ${fails ? "fails" : "returns a long output"}`, async ({
      ownerPage: page,
      request,
      organization,
    }) => {
      await page.setViewportSize({ width, height: 844 });
      const tool = organization.toolIds.winding ?? "";
      const id = await startRun(request, organization, { tool, input: { to: 40, fails } });
      await page.goto(`/runs/${id}`);
      await expect(page.getByRole("option").first()).toBeVisible();
      const readShifts = await watchShifts(page);
      await expect(page.locator("header")).toContainText("Running");
      await release(id);
      await expect(page.locator("header")).toContainText(fails ? "Failed" : "Completed", { timeout: 60_000 });
      // The long output has arrived and is collapsed.
      if (!fails) await expect(page.getByText("Show all")).toHaveCount(1);
      const { sum, moved } = await readShifts();
      expect(sum, moved.join("\n")).toBeLessThan(0.005);
    });
  }
}
