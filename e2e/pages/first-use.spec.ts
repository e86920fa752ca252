import type { Locator, Page } from "@playwright/test";
import { expectAccessible } from "../support/axe";
import { editor, expectText } from "../support/editor";
import { expect, openSession, test } from "../support/fixtures";
import { createOwnOrganization } from "../support/own-organization";

test("the start page leads from an empty organization to a completed run", async ({ page }) => {
  test.setTimeout(120_000);
  await openSession(page, await createOwnOrganization());
  await page.goto("/");
  const step = (title: string) =>
    page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });
  await expect(step("A model")).toContainText("demo model");
  await expect(page.getByRole("heading", { name: /^An agent ?, to do$/ })).toBeVisible();
  await expectAccessible(page, "the first steps without an agent");
  await step("An agent").getByRole("link", { name: "Price desk" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "New agent" })).toBeVisible();
  await expectText(editor(page, "System prompt"), /^You answer questions about prices/);
  await expect(page.getByRole("checkbox", { name: /^calculate/ })).toBeChecked();
  await page.getByLabel("Name", { exact: true }).fill("Helper");
  await page.getByLabel("Model", { exact: true }).selectOption("demo");
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Helper" })).toBeVisible();

  await page.goto("/");
  await expect(page.getByRole("heading", { name: /^An agent ?, done$/ })).toBeVisible();
  await step("A first run").getByLabel("Message").fill("What is 12 * 3.5?");
  await step("A first run").getByRole("button", { name: /^Run/ }).click();
  await expect(step("A first run").getByText("The first run has completed.")).toBeVisible();
  await expectAccessible(page, "the first steps, done");
  await step("A first run").getByRole("link", { name: "See all runs" }).click();
  await page.waitForURL("**/runs");
  await page.goto("/");
  await page.waitForURL("**/runs");
});

test("the keyboard alone leads from sign-in to a first run", async ({ page }) => {
  test.setTimeout(120_000);
  const { email, password } = await createOwnOrganization();
  await page.goto("/sign-in");
  await expect(page.getByLabel("Email")).toBeFocused();
  await page.keyboard.type(email);
  await page.keyboard.press("Tab");
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Get started" })).toBeVisible();
  await tabTo(page, page.getByRole("link", { name: "New agent" }));
  await page.keyboard.press("Enter");

  await expect(page.getByLabel("Name", { exact: true })).toBeFocused();
  await page.keyboard.type("Helper");
  await tabTo(page, page.getByLabel("Model", { exact: true }));
  await page.keyboard.type("demo");
  await expect(page.getByLabel("Model", { exact: true })).toHaveValue("demo");
  await tabTo(page, page.getByRole("checkbox", { name: /^calculate/ }));
  await page.keyboard.press("Space");
  await tabTo(page, page.getByRole("button", { name: "Create agent" }));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Helper" })).toBeVisible();
  await tabTo(page, page.getByLabel("Message"));
  await page.keyboard.type("What is 12 * 3.5?");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("region", { name: "Run Helper" }).getByText("Completed")).toBeVisible();
});

async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await expect(wanted).toBeVisible();
  for (let stop = 0; stop < 60; stop += 1) {
    await page.keyboard.press("Tab");
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
    const focused = page.locator(":focus");
    await expect(focused).not.toHaveCSS("outline-style", "none");
  }
  throw new Error(`Tab does not lead to ${wanted}.`);
}
