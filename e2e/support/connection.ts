import type { Locator, Page } from "@playwright/test";

/** The bar of a lost connection. */
export const connectionBar = (page: Page): Locator =>
  page.getByRole("alert").filter({ hasText: "The connection to the server is lost" });

/** Answers the calls of the page that match like a proxy without a server, until the returned function is called. */
export async function breakOff(page: Page, address: string): Promise<() => Promise<void>> {
  await page.route(address, (route) => route.fulfill({ status: 502, body: "Bad Gateway" }));
  return () => page.unroute(address);
}

/** Makes the page check its connection. */
export const checkConnection = (page: Page): Promise<boolean> =>
  page.evaluate(() => window.dispatchEvent(new Event("offline")));
