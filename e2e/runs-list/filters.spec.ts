import type { Page } from "@playwright/test";
import { expect, test } from "../support/fixtures";
import { finishRun, startRun, unique } from "../support/start";

const rows = (page: Page) => page.getByRole("table", { name: "Runs" }).locator("tbody tr:has([data-row])");

test("shows a finished run, finds it by its text, and opens it with the keyboard", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const message = unique("What is 6 * 7?");
  const id = await finishRun(request, organization, { agent: message });
  await page.goto("/runs");
  const search = page.getByRole("searchbox");
  await page.keyboard.press("/");
  await expect(search).toBeFocused();
  await search.fill(message);
  await expect(page).toHaveURL(/q=What/);
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page).first()).toContainText("Completed");
  await expect(rows(page).first()).toContainText("key e2e");
  // The exact time is on the whole row.
  await expect(rows(page).first().getByRole("link")).toHaveAttribute(
    "title",
    /20\d\d, \d\d:\d\d:\d\d\.\d{3} /,
  );
  await page.keyboard.press("Escape");
  await expect(search).toHaveValue(message);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/runs/${id}`));
});

test("text that is typed while an earlier search is rendered is kept", async ({ ownerPage: page }) => {
  await page.goto("/runs");
  await page.evaluate(() => {
    const replace = history.replaceState.bind(history);
    history.replaceState = (...how) => {
      replace(...how);
      if (!String(how[2]).endsWith("?q=one")) return;
      history.replaceState = replace;
      document.execCommand("insertText", false, " two");
    };
  });
  const search = page.getByRole("searchbox", { name: "Search runs" });
  await search.fill("one");
  await expect(page).toHaveURL(/\?q=one\+two$/);
  await expect(search).toHaveValue("one two");
});

test("filters are in the address, and a chip removes them", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  await finishRun(request, organization, { tool: organization.toolId, input: { number: 1 } });
  await page.goto("/runs");
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  // Its shape, and the place of the check mark.
  await expect(page.getByRole("option", { name: "Waiting" }).locator("svg")).toHaveCount(2);
  await page.getByRole("option", { name: "tool runs" }).click();
  await expect(page).toHaveURL(/kind=tool/);
  await expect(rows(page).first()).toContainText("Double");
  await page.getByRole("button", { name: "tool runs" }).click();
  await page.getByRole("option", { name: "agent runs" }).click();
  await expect(page).toHaveURL(/kind=agent/);
  await page.getByRole("button", { name: "Remove the filter kind" }).click();
  await expect(page).not.toHaveURL(/kind=/);
  // A time filter applies to the run's creation.
  await page.goto("/runs?period=24h");
  await expect(page.getByRole("button", { name: "created in the last 24 h", exact: true })).toBeVisible();
});

test("filters can be typed: several statuses, sizes with units", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { tool: organization.toolId, input: { number: 1 } });
  await page.goto("/runs");
  const input = page.getByRole("combobox", { name: "Filter by" });
  await page.keyboard.press("f");
  await expect(input).toBeFocused();
  // Each choice adds to the one before, however soon it follows.
  for (const text of ["failed", "completed", "< 0.5 credits"]) {
    // Replaces the text: a slow page may have taken the first key twice.
    await input.fill(text);
    await page.keyboard.press("Enter");
  }
  await expect(page).toHaveURL(/status=Failed,Completed&maxCredits=0.5$/);
  await expect(page.getByText("0.5 credits or less")).toBeVisible();
  await expect(rows(page).locator(`a[href="/runs/${id}"]`)).toHaveCount(1);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(page).toHaveURL(/\/runs$/);
  // "Back" undoes the conditions one by one.
  await page.goBack();
  await expect(page.getByText("0.5 credits or less")).toBeVisible();
  await page.goBack();
  await expect(page.getByText("0.5 credits or less")).toHaveCount(0);
  await expect(page).toHaveURL(/status=Failed,Completed$/);
});

test("a phone shows the chosen status among the tabs, with its number", async ({ ownerPage: page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/runs?status=Cancelled");
  const tab = page.getByRole("navigation", { name: "Status" }).locator("[aria-current]");
  await expect(tab).toHaveText(/^Cancelled[\d,+]+$/);
  await expect(tab).toBeInViewport({ ratio: 0.95 });
  const boxes = await page
    .getByRole("navigation", { name: "Status" })
    .getByRole("link")
    .evaluateAll((links) =>
      links.map((link) => ({ left: link.getBoundingClientRect().left, width: link.scrollWidth })),
    );
  for (const [index, { left, width }] of boxes.entries())
    expect(boxes[index + 1]?.left ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(left + width - 1);
});

test("a phone shows the headline of an error in two lines, and equal errors follow the list", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const tool = organization.toolIds.inward ?? "";
  const id = await startRun(request, organization, { tool, input: {} });
  await page.goto(`/runs?q=${id}`);
  await expect(rows(page)).toContainText("Failed");
  const headline = rows(page)
    .getByText(/127\.0\.0\.1/)
    .filter({ visible: true });
  const lines = await headline.evaluate(
    (part) => part.clientHeight / Number.parseFloat(getComputedStyle(part).lineHeight),
  );
  expect(lines).toBe(2);

  await page.goto(`/runs?status=Failed&tool=${tool}`);
  const errors = page.getByRole("region", { name: "Equal errors" });
  const count = async () => Number(/in the newest (\d+) failed/.exec(await errors.innerText())?.[1]);
  const before = await count();
  await startRun(request, organization, { tool, input: {} });
  await page.getByRole("button", { name: /^Show \d+ new runs?$/ }).click();
  await expect.poll(count).toBe(before + 1);
});

test("an unknown filter in the address is reported, and actions on all runs are hidden", async ({
  ownerPage: page,
}) => {
  await page.goto("/runs?status=Faild&kind=tool");
  await expect(page.getByText("status=Faild")).toBeVisible();
  await expect(page.getByRole("button", { name: "Filter", exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Export and more" })).toHaveCount(0);
  expect((await page.request.get("/api/runs/export?status=Faild")).status()).toBe(400);
  await page.getByRole("button", { name: "Remove it" }).click();
  await expect(page).toHaveURL(/\/runs\?kind=tool$/);
  await expect(page.getByRole("button", { name: "Export and more" })).toBeVisible();
});

test("a search without results explains what it covers", async ({ ownerPage: page }) => {
  await page.goto("/runs?q=xylophonists");
  await expect(page.getByText("No run matches these filters")).toBeVisible();
  await expect(page.getByText(/first 8,192 characters/)).toBeVisible();
});

test("the export contains what the list shows", async ({ ownerPage: page, request, organization }) => {
  const message = unique("What is 3 + 3?");
  const id = await finishRun(request, organization, { agent: message });
  const address = `/api/runs/export?q=${encodeURIComponent(message)}`;
  const runs = await (await page.request.get(`${address}&format=json`)).json();
  expect(runs).toMatchObject([{ id, input: message, status: "Completed" }]);
  const csv = await (await page.request.get(`${address}&format=csv`)).text();
  expect(csv.split("\r\n")).toHaveLength(3);
  expect((await request.get(address)).status()).toBe(401);
});
