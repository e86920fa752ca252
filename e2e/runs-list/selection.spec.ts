import type { Page } from "@playwright/test";
import { expect, test } from "../support/fixtures";
import { finishRuns, startRun, unique } from "../support/start";

const rows = (page: Page) => page.getByRole("table", { name: "Runs" }).locator("tbody tr:has([data-row])");

test("selected runs are cancelled together", async ({ ownerPage: page, request, organization }) => {
  const id = await startRun(request, organization, { tool: organization.counterId, input: { to: 1000 } });
  await page.goto(`/runs?q=${id}`);
  await rows(page).first().hover();
  await page.getByRole("checkbox", { name: /^Select the run of Counter/ }).check();
  await page.getByRole("button", { name: "Cancel 1 run" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel the selected runs" });
  await dialog.getByRole("button", { name: "Keep running" }).click();
  await page.getByRole("button", { name: "Cancel 1 run" }).click();
  await dialog.getByRole("button", { name: "Cancel 1 run" }).click();
  await expect(rows(page).first()).toContainText("Cancelled", { timeout: 20_000 });
});

test("shift selects a range of runs", async ({ ownerPage: page, request, organization }) => {
  const message = unique("Choose me");
  await finishRuns(
    request,
    organization,
    [0, 1, 2].map((n) => `${message} ${n}`),
  );
  await page.goto(`/runs?q=${encodeURIComponent(message)}`);
  await expect(rows(page)).toHaveCount(3);
  const box = (index: number) => rows(page).nth(index).getByRole("checkbox");
  await rows(page).first().hover();
  await box(0).check();
  await rows(page).last().hover();
  await box(2).click({ modifiers: ["Shift"] });
  await expect(page.getByText("3 selected")).toBeVisible();
  await box(1).click({ modifiers: ["Shift"] });
  await expect(page.getByText("1 selected")).toBeVisible();
  await rows(page).last().hover();
  await box(2).check();
  await page.getByRole("region", { name: "Selected runs" }).getByRole("link", { name: "Compare" }).click();
  await expect(page).toHaveURL(/\/runs\/compare\?a=.+&b=.+/);
  await expect(
    page.getByRole("region", { name: "Output", exact: true }).or(page.getByText(message)).first(),
  ).toBeVisible();
});

test("cancels all open runs of a filter after showing their number", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await startRun(request, organization, { tool: organization.counterId, input: { to: 1000 } });
  await page.goto(`/runs?q=${id}`);
  await page.getByRole("button", { name: "Export and more" }).click();
  await page.getByRole("menuitem", { name: "Cancel all open runs" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel all open runs" });
  await expect(dialog).toContainText("1 run is open.");
  await dialog.getByRole("button", { name: "Cancel runs" }).click();
  await expect(rows(page).first()).toContainText("Cancelled", { timeout: 20_000 });
});

test("the table header stays visible and never covers the focused row", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const message = unique("Far down");
  await finishRuns(
    request,
    organization,
    [0, 1, 2, 3, 4, 5].map((n) => `${message} ${n}`),
  );
  await page.setViewportSize({ width: 1000, height: 260 });
  await page.goto(`/runs?q=${encodeURIComponent(message)}`);
  await expect(rows(page)).toHaveCount(6);
  const row = (index: number) => rows(page).nth(index).getByRole("link");
  await row(0).focus();
  for (let n = 1; n < 6; n += 1) {
    await page.keyboard.press("j");
    await expect(row(n)).toBeFocused();
  }
  const head = page.getByRole("columnheader", { name: "Status" });
  await expect(head).toBeInViewport();
  for (let n = 4; n >= 0; n -= 1) {
    await page.keyboard.press("k");
    await expect(row(n)).toBeFocused();
    const [above, focused] = [await head.boundingBox(), await rows(page).nth(n).boundingBox()];
    expect(focused?.y).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0) - 1);
  }
});
