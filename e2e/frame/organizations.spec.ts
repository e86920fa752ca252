import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/axe";
import { expect, openSession, test, untilHydrated } from "../support/fixtures";
import { createMemberOfTwo } from "../support/own-organization";

const menu = (page: Page) => page.getByRole("button", { name: /^Organization / });
const bar = (page: Page) => page.getByRole("alert").filter({ hasText: "You switched to South." });

async function switchTo(page: Page, name: string): Promise<void> {
  await menu(page).click();
  await page.getByRole("menuitemradio", { name }).click();
  await expect(menu(page)).toContainText(name);
  await untilHydrated(page);
}

test("a page creates nothing in the organization that another tab has switched to", async ({ page }) => {
  await openSession(page, await createMemberOfTwo());
  await page.goto("/secrets");
  await expect(menu(page)).toContainText("North");
  const other = await page.context().newPage();
  await other.goto("/runs");
  await switchTo(other, "South");

  await page.getByRole("button", { name: "New secret" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New secret" });
  await dialog.getByLabel("Name").fill("TOKEN");
  await dialog.getByLabel("Value").fill("of-north");
  await dialog.getByLabel("Allowed hosts").fill("api.github.com");
  await dialog.getByRole("button", { name: "Create secret" }).click();
  await expect(dialog.getByText("This page shows another organization")).toBeVisible();
  await expect(page.getByText("You switched to South.")).toBeVisible();
  await expectAccessible(page, "a page of another organization than the session's");
  await other.goto("/secrets");
  await expect(other.getByText("No secrets yet")).toBeVisible();

  // Back in the page's organization, the form is sent as it is.
  await switchTo(other, "North");
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await expect(page.getByText("You switched to South.")).toHaveCount(0);
  await dialog.getByRole("button", { name: "Create secret" }).click();
  await expect(page.getByRole("dialog", { name: "Secret TOKEN created" })).toBeVisible();
  await other.close();
});

test("a link never shows the other organization's content under this one's name", async ({ page }) => {
  await openSession(page, await createMemberOfTwo());
  await page.goto("/runs");
  const other = await page.context().newPage();
  await other.goto("/runs");
  await switchTo(other, "South");

  const members = page.getByRole("heading", { level: 1, name: "Members" });
  await page.getByRole("link", { name: "Members" }).click();
  await expect(bar(page)).toBeVisible();
  await expect(page).toHaveURL(/\/members$/);
  await expect(members).toHaveCount(0);
  await expect(menu(page)).toContainText("North");

  await switchTo(other, "North");
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await expect(members).toBeVisible();
  await expect(bar(page)).toHaveCount(0);

  await switchTo(other, "South");
  await page.getByRole("link", { name: "API keys" }).click();
  await bar(page).getByRole("button", { name: "Reload" }).click();
  await expect(menu(page)).toContainText("South");
  await expect(page.getByRole("heading", { level: 1, name: "API keys" })).toBeVisible();
  await other.close();
});
