import { expect, test } from "../support/fixtures";
import { finishRun } from "../support/start";

test("the ledger shows what a run cost", async ({ ownerPage: page, request, organization }) => {
  const id = await finishRun(request, organization, { tool: organization.toolId, input: { number: 2 } });
  await page.goto("/credits?kind=charge");
  const row = page.getByRole("table", { name: "Ledger" }).locator("tbody tr", {
    has: page.locator(`a[href="/runs/${id}"]`),
  });
  await expect(row).toContainText("−0.0100");
  await page.getByRole("link", { name: "Grant" }).click();
  await expect(page.getByRole("table", { name: "Ledger" })).toContainText("+1,000.0000");
  // Holds and releases are hidden until asked for.
  await page.getByRole("link", { name: "All", exact: true }).click();
  await expect(row).toHaveCount(1);
  await page.getByText("Show holds and releases").click();
  await expect(page).toHaveURL("/credits?holds=shown");
  await expect(row).toHaveCount(3);
  await expect(row.filter({ hasText: "Hold" })).toContainText("−");
});

test("the audit log shows changes to owners", async ({ ownerPage: page }) => {
  await page.goto("/audit");
  const line = page.getByRole("row", { name: /Agent created Helper/ }).getByRole("button");
  // Other tests' changes may have moved it to the second page.
  const older = page.getByRole("button", { name: "Load older changes" });
  await expect(line.or(older).first()).toBeVisible();
  if (!(await line.isVisible())) await older.click();
  await line.click();
  await expect(page.getByRole("table", { name: "Changes" })).toContainText("gpt-5-mini");
});

test("the audit log is narrowed to one kind of subject", async ({ ownerPage: page }) => {
  await page.goto("/audit");
  const log = page.getByRole("table", { name: "Audit log" });
  await page.getByRole("navigation", { name: "Changes of" }).getByRole("link", { name: "Triggers" }).click();
  await expect(page).toHaveURL("/audit?subject=trigger");
  await expect(log.getByRole("button", { name: /Trigger created/ }).first()).toBeVisible();
  await expect(log.getByRole("button", { name: /Agent created/ })).toHaveCount(0);
  await page.reload();
  await expect(log.getByRole("button", { name: /Trigger created/ }).first()).toBeVisible();
});
