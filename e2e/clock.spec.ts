import { expect, test } from "./support/fixtures";
import { startRun } from "./support/start";

for (const [words, aheadMs] of [
  ["fast", 3_600_000],
  ["slow", -3_600_000],
] as const) {
  test(`shows a run's duration correctly when the browser's clock is an hour ${words}`, async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    await page.addInitScript((by) => {
      const now = Date.now;
      Date.now = () => now() + by;
    }, aheadMs);
    const input = { to: 1000 };
    const id = await startRun(request, organization, { tool: organization.counterId, input });
    await page.goto(`/runs/${id}`);
    const duration = page
      .getByRole("region", { name: "Facts" })
      .locator("dl > div")
      .filter({ hasText: /^Duration/ });
    // Neither 0 ms nor an hour.
    await expect(duration).toHaveText(/^Duration[1-9]\d?\.\d+ s$/);
    await page.getByRole("button", { name: "Cancel run" }).click();
    await expect(page.locator("header")).toContainText("Cancelled", { timeout: 20_000 });
  });
}
