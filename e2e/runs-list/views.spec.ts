import { expect, test } from "../support/fixtures";
import { unique } from "../support/start";

test("a view keeps filters and columns under a name, can be renamed and deleted", async ({
  ownerPage: page,
}) => {
  const name = unique("Failed");
  await page.goto("/runs?status=Failed&period=7d");
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "Started by" }).uncheck();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Save view" }).click();
  const dialog = page.getByRole("dialog", { name: "Save view" });
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("button", { name: "Save view" }).click();
  const views = page.getByRole("navigation", { name: "Saved views" });
  await expect(views.getByRole("link", { name })).toHaveAttribute("aria-current", "true");
  await expect(page.getByRole("button", { name: "Save view" })).toHaveCount(0);

  await views.getByRole("link", { name: "All runs" }).click();
  await expect(page).toHaveURL(/\/runs$/);
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("button", { name: "Reset" }).click();
  await page.keyboard.press("Escape");
  const source = page.getByRole("columnheader", { name: "Started by" });
  await expect(source.or(page.getByText("No runs yet"))).toBeVisible();
  await views.getByRole("link", { name }).click();
  await expect(page).toHaveURL(/\/runs\?status=Failed&period=7d$/);
  await expect(source).toHaveCount(0);

  await page.getByRole("button", { name: `Change the view ${name}` }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill(`${name} again`);
  await page.getByRole("button", { name: "Rename view" }).click();
  await expect(views.getByRole("link", { name: `${name} again` })).toBeVisible();
  await page.reload();
  await expect(views.getByRole("link", { name: `${name} again` })).toHaveAttribute("aria-current", "true");
  await page.getByRole("button", { name: `Change the view ${name} again` }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete view" }).click();
  await expect(views.getByRole("link", { name })).toHaveCount(0);
});
