import { expect, test } from "../support/fixtures";

test("a form that is sent while the browser is offline fails, can be closed, and is not sent later", async ({
  ownerPage: page,
}) => {
  const name = `Offline ${Date.now().toString(36)}`;
  await page.goto("/keys");
  await page.getByRole("button", { name: "New API key" }).click();
  const form = page.getByRole("dialog", { name: "New API key" });
  await form.getByLabel("Name").fill(name);
  await page.context().setOffline(true);
  await form.getByRole("button", { name: "Create key" }).click();
  await expect(form).toContainText("Could not reach the server. Check the connection and try again.");
  await form.getByRole("button", { name: "Cancel" }).click();
  await expect(form).toHaveCount(0);
  await page.context().setOffline(false);
  await page.reload();
  await expect(page.getByRole("heading", { name: "API keys", level: 1 })).toBeVisible();
  await expect(page.getByText(name)).toHaveCount(0);
});
