import type { Page } from "@playwright/test";
import { expect, test } from "../support/fixtures";
import { finishRun, startRun, unique } from "../support/start";

const rows = (page: Page) => page.getByRole("table", { name: "Runs" }).locator("tbody tr:has([data-row])");

test("new runs wait behind a bar, and shown ones update in place", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const first = unique("What is 1 + 1?");
  await finishRun(request, organization, { agent: first });
  await page.goto("/runs?kind=agent");
  await expect(rows(page).filter({ hasText: first })).toHaveCount(1);
  const second = unique("What is 2 + 2?");
  await finishRun(request, organization, { agent: second });
  const bar = page.getByRole("button", { name: /^Show \d+\+? new runs?$/ });
  await expect(bar).toBeVisible();
  await expect(rows(page).filter({ hasText: second })).toHaveCount(0);
  // It covers no row, on a phone neither.
  await rows(page).first().hover();
  const wide = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  await rows(page).first().hover();
  if (wide) await page.setViewportSize(wide);
  await bar.click();
  await expect(rows(page).filter({ hasText: second })).toContainText("Completed");
});

test("a run that starts to match the filter waits behind the bar, then appears in order", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const older = await startRun(request, organization, {
    tool: organization.counterId,
    input: { to: 1000 },
  });
  const newer = await startRun(request, organization, { tool: organization.counterId, input: { to: 999 } });
  await page.goto(`/runs?status=Cancelled&tool=${organization.counterId}`);
  const cancel = (id: string) =>
    request.post(`/v1/tools/run/${id}/cancel`, { headers: { "X-API-Key": organization.apiKey } });
  expect((await cancel(newer)).status()).toBe(200);
  const row = (id: string) => rows(page).filter({ has: page.locator(`[href="/runs/${id}"]`) });
  const bar = page.getByRole("button", { name: /^Show \d+\+? new runs?$/ });
  // In an empty list it appears by itself.
  await expect(async () => {
    if (await bar.isVisible()) await bar.click();
    await expect(row(newer)).toBeVisible({ timeout: 500 });
  }).toPass();
  await expect(row(older)).toHaveCount(0);
  expect((await cancel(older)).status()).toBe(200);
  await expect(bar).toBeVisible();
  await expect(row(older)).toHaveCount(0);
  await bar.click();
  await expect(row(older)).toBeVisible();
  const ids = await rows(page)
    .locator("a[data-row]")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href")?.split("/").at(-1)));
  expect(ids.indexOf(older)).toBeGreaterThan(ids.indexOf(newer));
});
