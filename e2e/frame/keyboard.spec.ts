import { cancelRun } from "../support/cancel";
import { expect, test } from "../support/fixtures";
import { finishRun, startRun } from "../support/start";

test("a menu is opened, walked through and left with the keyboard", async ({ ownerPage: page }) => {
  await page.goto("/runs");
  const button = page.getByRole("button", { name: "Export and more" });
  const item = (name: string) => page.getByRole("menuitem", { name });
  await button.focus();
  await page.keyboard.press("Enter");
  await expect(item("Export as CSV")).toBeFocused();
  await expect(button).toHaveAttribute("aria-expanded", "true");
  await page.keyboard.press("ArrowDown");
  await expect(item("Export as JSON")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(button).toBeFocused();
  await expect(button).toHaveAttribute("aria-expanded", "false");

  await page.keyboard.press("ArrowDown");
  await expect(item("Export as CSV")).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("menu")).toBeHidden();
  await expect(page.getByRole("button", { name: "New run" })).toBeFocused();

  // A click on the button closes what it opened.
  await button.click();
  await expect(page.getByRole("menu")).toBeVisible();
  await button.click();
  await expect(page.getByRole("menu")).toBeHidden();
});

test("the arrow keys change the tab of a step", async ({ ownerPage: page, request, organization }) => {
  const run = await finishRun(request, organization, { tool: organization.toolId, input: { number: 2 } });
  await page.goto(`/runs/${run}?step=1`);
  const tab = (name: string) => page.getByRole("tab", { name });
  await tab("Input and output").focus();
  await page.keyboard.press("End");
  await expect(tab("Record")).toBeFocused();
  await expect(page.getByRole("tabpanel", { name: "Record" })).toContainText("startedAt");
  await page.keyboard.press("ArrowRight");
  await expect(tab("Input and output")).toHaveAttribute("aria-selected", "true");
});

test("the focus stays on a button that copies on a page without TLS", async ({ ownerPage: page }) => {
  await page.addInitScript(() => Object.defineProperty(window, "isSecureContext", { value: false }));
  await page.goto("/agents");
  await page.getByRole("button", { name: "Copy the id of Helper" }).focus();
  await page.keyboard.press("Enter");
  const copied = page.getByRole("button", { name: "Copied" });
  await expect(copied).toBeFocused();
});

test("the focus returns to the button that cancels a run", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await startRun(request, organization, { tool: organization.counterId, input: { to: 1000 } });
  await page.goto(`/runs/${id}`);
  // The run stays open, as if it took long to end.
  await page.route("**/api/trpc/runs.cancel*", (route) =>
    route.fulfill({ json: [{ result: { data: { cancelled: 1, alreadyEnded: 0 } } }] }),
  );
  await cancelRun(page);
  await expect(page.getByRole("button", { name: "Cancelling" })).toBeFocused();
  await page.unroute("**/api/trpc/runs.cancel*");
  await page.reload();
  await cancelRun(page);
  await expect(page.locator("header")).toContainText("Cancelled");
});
