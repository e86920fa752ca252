import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/axe";
import { expect, openSession, test, untilHydrated } from "../support/fixtures";
import { createMemberOfTwo } from "../support/own-organization";

const menu = (page: Page) => page.getByRole("button", { name: /^Organization / });
const bar = (page: Page, name = "South") =>
  page.locator("[role=alert]").filter({ hasText: `You are now in ${name}.` });
const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name });
const returnTo = (page: Page) => page.evaluate(() => window.dispatchEvent(new Event("focus")));

async function choose(page: Page, name: string): Promise<void> {
  await menu(page).click();
  const answer = page.waitForResponse(/account\.switchOrganization/);
  await page.getByRole("menuitemradio", { name }).click();
  expect((await answer).status()).toBe(200);
}

async function switchTo(page: Page, name: string): Promise<void> {
  await choose(page, name);
  await expect(menu(page)).toContainText(name);
  await untilHydrated(page);
}

async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or go to" }).fill(text);
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
  await expect(bar(page)).toBeVisible();
  await expectAccessible(page, "a page of another organization than the session's");
  await other.goto("/secrets");
  await expect(other.getByText("No secrets yet")).toBeVisible();

  // Back in the page's organization, the form is sent as it is.
  await switchTo(other, "North");
  await returnTo(page);
  await expect(bar(page)).toHaveCount(0);
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

  const members = heading(page, "Members");
  await page.getByRole("link", { name: "Members" }).click();
  await expect(bar(page)).toBeVisible();
  await expect(page).toHaveURL(/\/members$/);
  await expect(members).toHaveCount(0);
  await expect(menu(page)).toContainText("North");

  await switchTo(other, "North");
  await returnTo(page);
  await expect(members).toBeVisible();
  await expect(bar(page)).toHaveCount(0);

  await switchTo(other, "South");
  await page.getByRole("link", { name: "API keys" }).click();
  await bar(page).getByRole("button", { name: "Reload" }).click();
  await expect(menu(page)).toContainText("South");
  await expect(heading(page, "API keys")).toBeVisible();
  await other.close();
});

test("a page of the previous organization shows nothing of the other one, and can switch", async ({
  page,
}) => {
  await openSession(page, await createMemberOfTwo());
  await page.goto("/tools");
  const other = await page.context().newPage();
  await other.goto("/runs");
  await switchTo(other, "South");

  await page.getByRole("link", { name: "New tool" }).click();
  await expect(bar(page)).toBeVisible();
  await expect(page.getByText("Only members and above")).toHaveCount(0);
  await search(page, "Switch to North");
  await page.keyboard.press("Enter");
  await expect(heading(page, "New tool")).toBeVisible();
  await expect(bar(page)).toHaveCount(0);

  await page.getByRole("link", { name: "Tools" }).first().click();
  await expect(heading(page, "Tools")).toBeVisible();
  await choose(other, "South");
  await page.getByRole("link", { name: "Compass" }).click();
  await expect(bar(page)).toBeVisible();
  await expect(page.getByText("Tool not found")).toHaveCount(0);
  await choose(page, "North");
  await expect(heading(page, "Compass")).toBeVisible();
  await expect(bar(page)).toHaveCount(0);

  await choose(other, "South");
  await page.getByRole("link", { name: "Tools" }).first().click();
  await expect(bar(page)).toBeVisible();
  await choose(page, "South");
  await expect(page).toHaveURL(/\/runs$/);
  await expect(menu(page)).toContainText("South");
  await expect(bar(page)).toHaveCount(0);
  await other.close();
});

test("a page follows into another organization with nothing of the previous one", async ({ page }) => {
  const person = await createMemberOfTwo();
  await openSession(page, person);
  await page.goto("/account");
  await search(page, "Compass");
  await expect(page.getByRole("option", { name: "Compass" })).toBeVisible();
  await page.keyboard.press("Escape");
  const other = await page.context().newPage();
  await other.goto("/runs");
  await switchTo(other, "South");
  await other.close();

  await page.getByLabel("Time zone", { exact: true }).selectOption("Asia/Tokyo");
  await expect(menu(page)).toContainText("South");
  await untilHydrated(page);
  await search(page, "Compass");
  await expect(page.getByText("No results for “Compass”.")).toBeVisible();

  // The session ends. The next one opens North.
  await page.context().clearCookies();
  await page.keyboard.press("Escape");
  await search(page, "");
  const signedOut = page.getByText("You have been signed out.");
  await expect(signedOut).toBeVisible();
  await page.keyboard.press("Escape");
  await openSession(page, person);
  await returnTo(page);
  await expect(bar(page, "North")).toBeVisible();
  await expect(signedOut).toHaveCount(0);
});

test("a page does nothing as the person who has signed in since", async ({ page, organization }) => {
  await openSession(page, organization.owner);
  await page.goto("/agents");
  await openSession(page, organization.viewer);
  const signedIn = page.locator("[role=alert]").filter({ hasText: "You are signed in as another person." });
  await page.getByRole("link", { name: "Members" }).click();
  await expect(signedIn).toBeVisible();
  await expect(heading(page, "Members")).toHaveCount(0);

  await openSession(page, organization.owner);
  await returnTo(page);
  await expect(heading(page, "Members")).toBeVisible();
  await expect(signedIn).toHaveCount(0);
});
