import type { Page } from "@playwright/test";
import { expect, test } from "../support/fixtures";
import { release } from "../support/slow-server";
import { startRun } from "../support/start";

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

test("nothing moves when a watched run ends", async ({ ownerPage: page, request, organization }) => {
  const tool = organization.toolIds.winding ?? "";
  const id = await startRun(request, organization, { tool, input: { to: 40, fails: false } });
  await page.goto(`/runs/${id}`);
  // All that comes before the end is shown.
  await expect(page.getByText(/^at step \d+, held for/)).toBeVisible({ timeout: 30_000 });
  await page.evaluate(() => {
    const moved: string[] = [];
    Object.assign(window, { moved });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const sources: unknown = Reflect.get(entry, "sources");
        for (const { node, previousRect: from, currentRect: to } of Array.isArray(sources) ? sources : []) {
          // Figures that tick may grow in place.
          if (from.x === to.x && from.y === to.y) continue;
          moved.push(`${from.x},${from.y} → ${to.x},${to.y}: ${node?.outerHTML ?? node?.textContent}`);
        }
      }
    }).observe({ type: "layout-shift" });
  });
  await release(id);
  await expect(page.locator("header")).toContainText("Completed", { timeout: 60_000 });
  await expect(page.getByRole("button", { name: "Cancel run" })).toHaveCount(0);
  // Shifts are reported with the frame after the next.
  await page.evaluate(() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen))));
  expect(await page.evaluate(() => Reflect.get(window, "moved"))).toEqual([]);
});
