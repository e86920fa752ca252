import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expectAccessible } from "@/e2e/support/axe";
import { expect, test } from "@/e2e/support/fixtures";

const unique = (name: string) => `${name} ${Date.now().toString(36)}${test.info().workerIndex}`;

test("a new key works as pasted until it is revoked", async ({ ownerPage: page }) => {
  const name = unique("shop");
  await page.goto("/keys");
  await page.getByRole("button", { name: "New API key" }).click();
  const form = page.getByRole("dialog", { name: "New API key" });
  await form.getByLabel("Name").fill(name);
  await form.getByLabel("Only some").check();
  await form.getByLabel("Search agents and tools").fill("help");
  await form.getByLabel("Helper").check();
  await form.getByLabel("Expires").selectOption("In 90 days");
  await form.getByLabel("Starts per minute").fill("20");
  await form.getByRole("button", { name: "Create key" }).click();

  const created = page.getByRole("dialog", { name: `Key ${name} created` });
  await expect(created).toContainText("it is not shown again");
  const line = (await created.getByRole("region", { name: "Try it" }).locator("pre").textContent()) ?? "";
  const run = async () => JSON.parse((await promisify(execFile)("sh", ["-c", line])).stdout);
  expect(await run()).toMatchObject({ success: true });
  await created.getByRole("button", { name: "Done" }).click();

  const row = page.getByRole("row").filter({ hasText: name });
  await expect(row).toContainText("active");
  await expect(row).toContainText("of Helper");
  await row.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  const confirmation = page.getByRole("dialog", { name: `Revoke ${name}` });
  await expect(confirmation).toContainText("get status 401 immediately");
  await confirmation.getByRole("button", { name: "Revoke key" }).click();
  await expect(confirmation).toBeHidden();
  await expect(row).toContainText("revoked");
  await expect(row.getByRole("button")).toHaveCount(0);
  // Processes learn of a revocation within a second.
  await expect.poll(run).toMatchObject({ success: false });
});

test("errors appear at their fields, and a click beside the form loses nothing", async ({
  ownerPage: page,
}) => {
  await page.goto("/keys");
  await page.getByRole("button", { name: "New API key" }).click();
  const form = page.getByRole("dialog", { name: "New API key" });
  const name = form.getByLabel("Name");
  const submit = form.getByRole("button", { name: "Create key" });
  await submit.click();
  await expect(form).toContainText("Name must not be empty.");
  await expect(name).toBeFocused();
  await name.fill("e2e");
  await submit.click();
  await expect(form).toContainText('Name is taken: a key "e2e" exists');
  await form.getByLabel("Starts per minute").fill("ten");
  await submit.click();
  await expect(form).toContainText("Enter a whole number.");
  await page.mouse.click(5, 5);
  await expect(name).toHaveValue("e2e");
});

test("a viewer sees who creates keys, and no action", async ({ viewerPage: page }) => {
  await page.goto("/keys");
  await expect(page.getByText("Admins and owners create and revoke keys.")).toBeVisible();
  await expect(page.getByRole("button", { name: "New API key" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: /^Actions for/ })).toHaveCount(0);
});

test("the dialogs are accessible in both themes and on a phone", async ({ ownerPage: page }) => {
  test.setTimeout(120_000);
  const name = unique("axe");
  await page.goto("/keys");
  await page.getByRole("button", { name: "New API key" }).click();
  const form = page.getByRole("dialog", { name: "New API key" });
  await form.getByLabel("Only some").check();
  await form.getByLabel("Expires").selectOption("On a date");
  await form.getByRole("button", { name: "Create key" }).click();
  await expect(form).toContainText("Select at least one agent or tool.");
  await expectAccessible(page, "the form of a key");
  await form.getByLabel("All, also").check();
  await form.getByLabel("Expires").selectOption("Never");
  await form.getByLabel("Name").fill(name);
  await form.getByRole("button", { name: "Create key" }).click();
  await expect(page.getByRole("dialog", { name: `Key ${name} created` })).toBeVisible();
  await expectAccessible(page, "a new key");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  await expect(page.getByRole("dialog", { name: `Revoke ${name}` })).toBeVisible();
  await expectAccessible(page, "revoking a key");
});
