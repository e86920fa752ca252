import { expect, test } from "../support/fixtures";
import { finishRun } from "../support/start";

test("columns are chosen and ordered, and the browser remembers them", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  await finishRun(request, organization, { agent: "Columns of a run" });
  await page.setViewportSize({ width: 1600, height: 800 });
  await page.goto("/runs");
  const heads = page.getByRole("table", { name: "Runs" }).getByRole("columnheader");
  const usual = ["Run", "Status", "Started by", "Started", "Duration", "Credits"];
  await expect(heads).toHaveText(usual);

  await page.getByRole("button", { name: "Columns" }).click();
  const picker = page.getByRole("dialog", { name: "Columns" });
  await picker.getByRole("checkbox", { name: "Started by" }).uncheck();
  for (const name of ["Version", "Model", "Steps", "Tokens"])
    await picker.getByRole("checkbox", { name }).check();
  await picker.getByRole("checkbox", { name: "Started by" }).check();
  await picker.getByRole("button", { name: "Move Credits to the left" }).click();
  const chosen = [
    "Run",
    "Status",
    "Started",
    "Credits",
    "Duration",
    "Version",
    "Model",
    "Steps",
    "Tokens",
    "Started by",
  ];
  await expect(heads).toHaveText(chosen);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Columns" })).toBeFocused();

  await page.reload();
  await expect(heads).toHaveText(chosen);
  // A narrower window has room for fewer, and the last one keeps the page's margin.
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(heads).toHaveText(chosen.slice(0, 7));
  const last = page
    .getByRole("table", { name: "Runs" })
    .locator("tbody tr:has([data-row])")
    .first()
    .locator("td:visible")
    .last();
  await expect(last).toHaveCSS("padding-right", "24px");
  const box = await last.boundingBox();
  expect(Math.round((box?.x ?? 0) + (box?.width ?? 0))).toBe(1280);

  // A phone shows its rows as ever.
  await page.getByRole("button", { name: "Columns" }).click();
  await picker.getByRole("checkbox", { name: "Status" }).uncheck();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload();
  const row = page.getByRole("table", { name: "Runs" }).locator("tbody tr:has([data-row])").first();
  await expect(row.getByText("Completed")).toBeVisible();
  await expect(page.getByRole("button", { name: "Columns" })).toBeHidden();

  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("button", { name: "Columns" }).click();
  await picker.getByRole("button", { name: "Reset" }).click();
  await expect(heads).toHaveText(usual);
});
