import type { Page } from "@playwright/test";
import { expect, test } from "../support/fixtures";
import { finishRuns, startRun, unique } from "../support/start";

const rows = (page: Page) => page.getByRole("table", { name: "Runs" }).locator("tbody tr:has([data-row])");

test("going back from a run restores the view, and the keyboard continues from its row", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const message = unique("Where was I?");
  await finishRuns(
    request,
    organization,
    [0, 1, 2].map((n) => `${message} ${n}`),
  );
  const address = `/runs?status=Completed&q=${encodeURIComponent(message)}`;
  await page.goto(address);
  await expect(rows(page)).toHaveCount(3);
  await expect(page.getByText("3 runs with these filters")).toBeVisible();
  const opened = rows(page).nth(1).getByRole("link");
  const hrefs = await rows(page)
    .getByRole("link")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  await opened.focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${hrefs[1]}`);
  await page.getByRole("main").getByRole("link", { name: "Runs", exact: true }).click();
  await expect(page).toHaveURL(/status=Completed&q=Where/);
  await expect(opened).toBeFocused();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${hrefs[2]}`);

  // After a reload the page still returns to the list it was opened from.
  await page.reload();
  const back = page.getByRole("main").getByRole("link", { name: "Runs", exact: true });
  // The server does not know the last list.
  await expect(back).toHaveAttribute("href", /q=/);
  await back.click();
  await expect(page).toHaveURL(/status=Completed&q=Where/);
  await expect(rows(page)).toHaveCount(3);
  await expect(rows(page).nth(2).getByRole("link")).toBeFocused();
});

test("walks from run to run, and returns to the row of the last one", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const message = unique("Who is next?");
  await finishRuns(
    request,
    organization,
    [0, 1, 2].map((n) => `${message} ${n}`),
  );
  // Newer than the others, and not in the list.
  await finishRuns(request, organization, [unique("Not me.")]);
  await page.goto(`/runs?q=${encodeURIComponent(message)}`);
  await expect(rows(page)).toHaveCount(3);
  const hrefs = await rows(page)
    .getByRole("link")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  await rows(page).first().getByRole("link").click();
  await page.waitForURL(`**${hrefs[0]}`);
  await expect(page.getByRole("link", { name: "Older run in the list" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Newer run in the list" })).toHaveCount(0);

  await page.keyboard.press("n");
  await page.waitForURL(`**${hrefs[1]}`);
  await page.getByRole("link", { name: "Older run in the list" }).press("Enter");
  await page.waitForURL(`**${hrefs[2]}`);
  // At the end of the list, the focus moves to the other link.
  await expect(page.getByRole("link", { name: "Newer run in the list" })).toBeFocused();
  await expect(page.getByRole("link", { name: "Older run in the list" })).toHaveCount(0);
  await page.keyboard.press("p");
  await page.waitForURL(`**${hrefs[1]}`);

  await page.goBack();
  await expect(page).toHaveURL(/\/runs\?q=Who/);
  await expect(rows(page).nth(1).getByRole("link")).toBeFocused();
});

test("loads the row to return to when it is further down the list", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const message = unique("How deep?");
  const [first] = await finishRuns(request, organization, [message]);
  const tool = organization.toolIds.echo ?? "";
  await Promise.all(
    Array.from({ length: 55 }, (_, n) =>
      startRun(request, organization, { tool, input: { text: `${message} ${n}` } }),
    ),
  );
  await page.goto(`/runs?q=${encodeURIComponent(message)}`);
  await page.getByRole("button", { name: "Load older runs" }).click();
  const row = page.locator(`[data-row][href="/runs/${first}"]`);
  await row.click();
  await page.waitForURL(`**/runs/${first}`);
  await page.reload();
  const back = page.getByRole("main").getByRole("link", { name: "Runs", exact: true });
  // The server does not know the last list.
  await expect(back).toHaveAttribute("href", /q=/);
  await back.click();
  await expect(row).toBeFocused();
  await expect(row).toBeInViewport();
});
