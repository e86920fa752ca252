import { expectAccessible } from "../support/axe";
import { expect, test } from "../support/fixtures";
import { finishRun } from "../support/start";

test("a root run opens to its child runs, by pointer and by keyboard", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { agent: "Double 21 for me" });
  await page.goto("/runs");
  const rows = page.getByRole("table", { name: "Runs" }).locator("tbody tr:has([data-row])");
  const root = rows.filter({ has: page.locator(`a[href="/runs/${id}"]`) });
  await expect(page.getByRole("rowheader", { name: /^Today, / })).toBeVisible();
  const child = page.locator(`tr:has(a[href="/runs/${id}"]) + tr`);
  await root.getByRole("button", { name: /^Show the 1 child run of / }).click();
  await expect(child.getByRole("link", { name: "Double" })).toBeVisible();
  await root.getByRole("button", { name: /^Hide the 1 child run of / }).click();
  await expect(child.getByRole("link", { name: "Double" })).toHaveCount(0);

  await root.getByRole("link").focus();
  await page.keyboard.press("ArrowRight");
  await expect(child.getByRole("link", { name: "Double" })).toBeVisible();
  await expectAccessible(page, "runs with an open one");
  await page.keyboard.press("ArrowDown");
  await expect(child.getByRole("link", { name: "Double" })).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(root.getByRole("link")).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(child.getByRole("link", { name: "Double" })).toHaveCount(0);

  // All runs are in the other list, so none opens.
  await page.getByRole("button", { name: "With child runs" }).click();
  await expect(rows.getByRole("link", { name: "Double" }).first()).toBeVisible();
  await expect(rows.getByRole("button", { name: /child run of/ })).toHaveCount(0);
});
