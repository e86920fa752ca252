import { expect, test } from "@/e2e/support/fixtures";

test("a form that was opened before the schedule was paused does not resume it", async ({
  ownerPage: page,
}) => {
  const name = `Nightly ${Date.now().toString(36)}`;
  await page.goto("/schedules");
  await page.getByRole("button", { name: "New schedule" }).first().click();
  const form = page.getByRole("dialog", { name: "New schedule" });
  await form.getByLabel("Name").fill(name);
  await form.getByLabel("Starts", { exact: true }).selectOption("Helper");
  await form.getByLabel("Message").fill("Write the report.");
  await form.getByRole("button", { name: "Create schedule" }).click();
  await page.getByRole("link", { name }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: `Edit ${name}` });
  await edit.getByLabel("Name").fill(`${name} again`);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole("button", { name: "Pause" }).click();
  await expect(other.getByText(`${name} is paused`)).toBeVisible();
  await other.close();
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1, name: `${name} again` })).toBeVisible();
  await expect(page.getByRole("button", { name: "Resume" })).toBeVisible();
});
