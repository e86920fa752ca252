import { expect, test } from "../support/fixtures";
import { finishRun } from "../support/start";

test("bars choose the time of the runs, by keyboard and by pointer", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  await finishRun(request, organization, { tool: organization.toolId, input: { number: 1 } });
  await page.goto("/runs");
  const bars = page.getByRole("listbox", { name: /^Runs over time: .+ to .+: \d+ runs?/ });
  // The newest bar is the last; its label has the numbers.
  await expect(bars.getByRole("option")).toHaveCount(28);
  await expect(bars.getByRole("option").last()).toHaveAccessibleName(/: [1-9]\d* runs?/);
  await bars.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Shift+ArrowLeft");
  await expect(bars.getByRole("option", { selected: true })).toHaveCount(2);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/runs\?from=.+&to=.+/);
  await expect(
    page.getByRole("table", { name: "Runs" }).locator("tbody tr:has([data-row])").first(),
  ).toBeVisible();
  await page.getByRole("button", { name: "Show the last 7 days" }).click();
  await expect(page).toHaveURL(/\/runs$/);
  await expect(bars.getByRole("option")).toHaveCount(28);
  await bars.getByRole("option").last().click();
  await expect(page).toHaveURL(/\/runs\?from=.+&to=.+/);
  // Stored counts cannot answer a search.
  await page.goto("/runs?q=xylophonists");
  await expect(page.getByText("No run matches these filters")).toBeVisible();
  await expect(bars).toHaveCount(0);
});
