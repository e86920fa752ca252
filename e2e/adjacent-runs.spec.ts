import { expect, test } from "./support/fixtures";
import { finishRun, startRun } from "./support/start";

/** Which line of a run's page is open: the newest, one reached by keyboard, or the one in the URL. */

test("a live run is followed until the reader scrolls, and again on demand", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const input = { to: 1000 };
  const id = await startRun(request, organization, { tool: organization.counterId, input });
  await page.goto(`/runs/${id}`);
  const timeline = page.getByRole("listbox", { name: "Timeline" });
  const rows = timeline.getByRole("option");
  const count = async () => Number(await rows.first().getAttribute("aria-setsize"));
  const top = () => timeline.evaluate((list) => list.scrollTop);
  await expect.poll(top, { timeout: 30_000 }).toBeGreaterThan(300);
  const follow = page.getByRole("button", { name: "Follow the newest step" });
  await expect(follow).toHaveCount(0);

  await timeline.hover();
  await page.mouse.wheel(0, -100_000);
  await expect(follow).toBeVisible();
  const heading = page.getByRole("heading", { level: 2, name: /^Step \d+/ });
  const open = await heading.textContent();
  const before = await count();
  await expect.poll(count).toBeGreaterThan(before + 10);
  // A line for a wait may have come in above.
  expect(await top()).toBeLessThan(150);
  expect(await heading.textContent()).toBe(open);

  await follow.click();
  await expect(follow).toHaveCount(0);
  await expect.poll(top).toBeGreaterThan(300);
  const newest = timeline.getByRole("option", { selected: true });
  await expect
    .poll(async () => Number(await newest.getAttribute("aria-posinset")))
    .toBeGreaterThan(before + 10);
  await page.getByRole("button", { name: "Cancel run" }).click();
  await expect(page.locator("header")).toContainText("Cancelled", { timeout: 20_000 });
});

test("arrow keys move through the steps, and scroll inside texts", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { tool: organization.counterId, input: { to: 20 } });
  await page.goto(`/runs/${id}`);
  const selected = page.getByRole("option", { selected: true });
  await expect(selected).toContainText("1");
  await page.keyboard.press("ArrowDown");
  await expect(page).toHaveURL(/step=2$/);
  await expect(selected).toBeFocused();
  // Each key moves on from the one before, however soon it follows.
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp"]) {
    await page.keyboard.press(key);
  }
  await expect(page).toHaveURL(/step=3$/);
  await expect(selected).toBeFocused();

  // Also from a button, but not from a choice or within the texts.
  await page.getByRole("button", { name: "Run again", exact: true }).focus();
  await page.keyboard.press("ArrowDown");
  await expect(page).toHaveURL(/step=4$/);
  await page.getByRole("button", { name: "Copy the output of the step" }).focus();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("radio", { name: "Time" }).focus();
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("radio", { name: "Credits" })).toBeChecked();
  await expect(page).toHaveURL(/step=4$/);
});

test("an address of an unknown line is explained", async ({ ownerPage: page, request, organization }) => {
  const id = await finishRun(request, organization, { tool: organization.counterId, input: { to: 2 } });
  for (const [query, words] of [
    ["step=999", "This run has no step 999."],
    ["call=nope", "This run has no model call nope."],
    ["step=1&attempt=7", "This run has no attempt 7 of step 1."],
  ]) {
    await page.goto(`/runs/${id}?${query}`);
    await expect(page.getByText(words ?? "")).toBeVisible();
  }
  await page.getByRole("option").nth(1).click();
  await expect(page.getByText(/^This run has no/)).toHaveCount(0);
});
