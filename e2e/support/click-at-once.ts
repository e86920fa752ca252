import type { Locator, Page } from "@playwright/test";

/** Clicks both elements before the page can render what the first click changed. */
export async function clickAtOnce(page: Page, first: Locator, second: Locator): Promise<void> {
  await page.evaluate(
    (elements) => {
      for (const element of elements) if (element instanceof HTMLElement) element.click();
    },
    [await first.elementHandle(), await second.elementHandle()],
  );
}
