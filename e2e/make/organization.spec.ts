import { expectAccessible } from "@/e2e/support/axe";
import { expect, test } from "@/e2e/support/fixtures";

test("plan, limits and usage are facts, and an owner renames", async ({ ownerPage: page }) => {
  await page.goto("/organization");
  await expect(page.getByRole("region", { name: "Plan" })).toContainText(/Runs at once\d+ of 10/);
  await expect(page.getByRole("region", { name: "Plan" })).toContainText("1,000per key in any 60 seconds");
  await page.getByRole("button", { name: "Rename" }).click();
  const form = page.getByRole("dialog", { name: "Rename the organization" });
  await form.getByLabel("Name").fill(" ");
  await form.getByRole("button", { name: "Rename" }).click();
  await expect(form).toContainText("Name must not be empty.");
  await expectAccessible(page, "renaming the organization");
  // The same name: other tests read it.
  await form.getByLabel("Name").fill("Brook & Sons");
  await form.getByRole("button", { name: "Rename" }).click();
  await expect(form).toBeHidden();
  await expect(page.getByRole("region", { name: "Organization" })).toContainText("Brook & Sons");
});

test("a viewer sees the facts and who renames", async ({ viewerPage: page }) => {
  await page.goto("/organization");
  await expect(page.getByText("Owners rename the organization.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Rename" })).toHaveCount(0);
});
