import { breakOff, checkConnection, connectionBar } from "../support/connection";
import { expect, test } from "../support/fixtures";

test("an outage behind a proxy shows at a live page, until the server is back", async ({
  ownerPage: page,
}) => {
  const end = await breakOff(page, "**/api/**");
  await page.goto("/runs");
  await expect(connectionBar(page)).toBeVisible();
  await end();
  await expect(connectionBar(page)).toHaveCount(0);
});

test("an outage behind a proxy shows at a call that fails", async ({ ownerPage: page }) => {
  await page.goto("/secrets");
  await breakOff(page, "**/api/**");
  await page.getByRole("button", { name: "New secret" }).first().click();
  const form = page.getByRole("dialog", { name: "New secret" });
  await form.getByLabel("Name").fill("unsent");
  await form.getByLabel("Value").fill("a value");
  await form.getByLabel("Allowed hosts").fill("api.github.com");
  await form.getByRole("button", { name: "Create secret" }).click();
  await expect(page.getByText("The connection to the server is lost")).toBeVisible();
});

test("the page catches up whichever check finds the server again", async ({ ownerPage: page }) => {
  await page.goto("/secrets");
  const end = await breakOff(page, "**/api/health");
  await checkConnection(page);
  await expect(connectionBar(page)).toBeVisible();
  const refetched = page.waitForRequest(/\/api\/trpc\/[^?]*secrets\.list/);
  await end();
  await checkConnection(page);
  await expect(connectionBar(page)).toHaveCount(0);
  await refetched;
});
