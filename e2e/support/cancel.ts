import type { Page } from "@playwright/test";

/** Cancels the run on the page: the button asks first. */
export async function cancelRun(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Cancel run" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel run" }).click();
}
