import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/axe";
import { clickAtOnce } from "../support/click-at-once";
import { expect, test } from "../support/fixtures";
import { finishRun } from "../support/start";

const rows = (page: Page) => page.getByRole("table", { name: "Runs" }).locator("tbody tr:has([data-row])");

test("metrics link to one agent's metrics, and each figure and bar to its runs", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  await finishRun(request, organization, { agent: "What is 9 * 9?" });
  await page.goto("/metrics");
  const byAgent = page.getByRole("region", { name: "By agent", exact: true });
  await byAgent.getByRole("link", { name: "Helper", exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`/metrics\\?.*agent=${organization.agentId}`));
  await expect(page.getByText("agent Helper")).toBeVisible();
  await expect(byAgent).toHaveCount(0);
  await page.getByRole("group", { name: "Interval" }).getByRole("button", { name: "15 min" }).click();
  await expect(page).toHaveURL(/interval=15m/);
  await expect(page.getByRole("button", { name: "15 min" })).toHaveAttribute("aria-pressed", "true");

  const figure = (name: string) =>
    page
      .locator("dl > div")
      .filter({ has: page.getByText(name, { exact: true }) })
      .getByRole("link");
  await expect(figure("Duration p95")).toHaveAttribute("href", /agent=.*minDurationMs=\d+/);
  await expect(figure("Tokens")).toHaveAttribute("href", /minTokens=1/);

  // The bottom of the last bar: the completed runs of the current quarter of an hour.
  const chart = page.getByRole("img", { name: /^Runs by status/ });
  const box = await chart.boundingBox();
  if (!box) throw new Error("There is no chart.");
  await page.mouse.click(box.x + box.width - 4, box.y + box.height - 3);
  await expect(page).toHaveURL(/\/runs\?status=Completed&from=.*&agent=/);
  await expect(rows(page).first()).toContainText("Helper");
  await page.goBack();
  await expect(page).toHaveURL(/\/metrics\?.*interval=15m/);
  await figure("Runs").click();
  await expect(page).toHaveURL(/\/runs\?.*agent=/);
  await expect(rows(page).first()).toContainText("Helper");
});

test("links to child runs are large enough", async ({ ownerPage: page, request, organization }) => {
  await finishRun(request, organization, { agent: "Double 21 for me" });
  await page.goto("/metrics");
  await expect(page.getByRole("link", { name: /^\d+ child$/ }).first()).toBeVisible();
  await expectAccessible(page, "metrics with child runs");
});

test("a click on a bar that is redrawn meanwhile opens its runs", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  await finishRun(request, organization, { tool: organization.toolId, input: { number: 5 } });
  await page.goto("/metrics");
  const chart = page.getByRole("img", { name: /^Runs by status/ });
  // Other tests' runs fill earlier bars when the clock passes a quarter of an hour.
  const bar = chart.locator("rect.fill-completed-fill").last();
  await expect(bar).toBeVisible();
  const widthBefore = await bar.getAttribute("width");
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(/runs\.metrics/, async (route) => {
    await answered;
    await route.continue();
  });
  await page.getByRole("group", { name: "Interval" }).getByRole("button", { name: "15 min" }).click();
  const box = await bar.boundingBox();
  if (!box) throw new Error("There is no bar.");
  // The bars of both intervals end here.
  await page.mouse.move(box.x + box.width - 1, box.y + box.height - 3);
  await page.mouse.down();
  answer();
  await expect(bar).not.toHaveAttribute("width", String(widthBefore));
  await page.mouse.up();
  await expect(page).toHaveURL(/\/runs\?/);
});

test("metrics of a range of days are in the address", async ({ ownerPage: page, request, organization }) => {
  await finishRun(request, organization, { tool: organization.toolId, input: { number: 3 } });
  const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  const [first, last] = [dayOf(Date.now() - 30 * 86_400_000), dayOf(Date.now() + 86_400_000)];
  await page.goto("/metrics");
  await page.getByLabel("From", { exact: true }).fill(first);
  await page.getByLabel("To", { exact: true }).fill(last);
  await expect(page).toHaveURL(`/metrics?first=${first}&last=${last}`);
  await expect(page.getByRole("group", { name: "Interval" })).toHaveCount(0);
  await page.reload();
  await expect(page.getByLabel("From", { exact: true })).toHaveValue(first);
  const figures = page.getByRole("region", { name: "Key figures" });
  await expect(figures.getByRole("link").first()).toHaveAttribute("href", new RegExp(`from=${first}T00`));
  await page.getByRole("button", { name: "24 hours" }).click();
  await expect(page).toHaveURL("/metrics?period=24h");
  await expect(page.getByLabel("From", { exact: true })).toHaveValue("");
});

test("the metrics page keeps both of two choices made at the same time", async ({
  ownerPage: page,
  organization,
}) => {
  await page.goto(`/metrics?agent=${organization.agentId}`);
  const removal = page.getByRole("button", { name: "Remove the filter agent" });
  await clickAtOnce(page, removal, page.getByRole("button", { name: "7 days" }));
  await expect(page).toHaveURL(/\/metrics\?period=7d$/);
  await expect(removal).toHaveCount(0);
});
