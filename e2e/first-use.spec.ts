import { expectNoFaultsAnywhere } from "./axe";
import { expect, signIn, test } from "./fixtures";
import { createOwnOrganization } from "./own-organization";

/** The way of a new organization to its first completed run. */

test("the start page leads from an empty organization to a completed run", async ({ page }) => {
  test.setTimeout(120_000);
  await signIn(page, createOwnOrganization("first"));
  await page.goto("/");
  const step = (title: string) =>
    page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });
  await expect(step("A model")).toContainText("demo model");
  await expect(page.getByRole("heading", { name: /^An agent ?, to do$/ })).toBeVisible();
  await expectNoFaultsAnywhere(page, "the first steps without an agent");
  await step("An agent").getByRole("link", { name: "New agent" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "New agent" })).toBeVisible();
  await page.getByLabel("Name", { exact: true }).fill("Helper");
  await page.getByLabel("Model", { exact: true }).selectOption("demo");
  await page.getByRole("checkbox", { name: /^calculate/ }).check();
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Helper" })).toBeVisible();

  await page.goto("/");
  await expect(page.getByRole("heading", { name: /^An agent ?, done$/ })).toBeVisible();
  await step("A first run").getByLabel("Message").fill("What is 12 * 3.5?");
  await step("A first run").getByRole("button", { name: /^Run/ }).click();
  await expect(step("A first run").getByText("The first run has completed.")).toBeVisible();
  await expectNoFaultsAnywhere(page, "the first steps, done");
  await step("A first run").getByRole("link", { name: "See all runs" }).click();
  await page.waitForURL("**/runs");
  await page.goto("/");
  await page.waitForURL("**/runs");
});
