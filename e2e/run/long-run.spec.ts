import { expect, test } from "../support/fixtures";
import { finishRun } from "../support/start";

test("a long run's page renders visible rows, and fetches an output when it is opened", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { tool: organization.bulkyId, input: {} });
  const html = await (await page.request.get(`/runs/${id}`)).text();
  expect(html.length).toBeLessThan(1_000_000);
  expect(html).not.toContain("record 299");

  await page.goto(`/runs/${id}`);
  const timeline = page.getByRole("listbox", { name: "Timeline" });
  const rows = timeline.getByRole("option");
  // 500 items are one line until it is expanded.
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText("part×500, 500 items");
  await expect(page.getByRole("region", { name: "Items of part" })).toContainText("slowest: part[");
  await rows.click();
  await page.keyboard.press("ArrowRight");
  await expect(rows.first()).toHaveAttribute("aria-setsize", "501");
  await expect.poll(() => rows.count()).toBeLessThan(100);

  // To the end by keyboard: the last row is drawn, selected and focused, and the first rows are gone.
  await rows.nth(1).click();
  await expect(page).toHaveURL(/step=1$/);
  await page.keyboard.press("End");
  await expect(timeline.locator("[aria-posinset='501']")).toBeFocused();
  await expect(page).toHaveURL(/step=500$/);
  await expect(timeline.locator("[aria-posinset='1']")).toHaveCount(0);
  expect(await rows.count()).toBeLessThan(100);
  await page.keyboard.press("ArrowUp");
  await expect(timeline.locator("[aria-posinset='500']")).toBeFocused();

  // To the middle. The pointer is elsewhere, because a row under it would be prefetched.
  await page.locator("h1").hover();
  await timeline.evaluate((box) => {
    box.scrollTop = 200 * 36;
  });
  const row = timeline.locator("[aria-posinset='201']");
  const stepId = (await row.getAttribute("id"))?.replace("line-", "") ?? "";
  const step = page.waitForResponse((response) => response.url().includes(stepId));
  await row.click();
  // Its output has some 170 kB; the page gets the start.
  const body = await (await step).text();
  expect(body.length).toBeGreaterThan(30_000);
  expect(body.length).toBeLessThan(100_000);

  const panel = page.getByRole("region", { name: "Output of the step" });
  await panel.getByRole("button", { name: /^Load all/ }).click();
  await expect(panel.getByRole("searchbox", { name: "Search this document" })).toBeVisible();
  expect(await panel.getByRole("row").count()).toBeLessThan(200);
  await panel.getByRole("searchbox", { name: "Search this document" }).fill("record 299");
  await expect(panel.getByText("1 found")).toBeVisible();
  await expect(panel.getByRole("row")).toHaveCount(2);
  await expect(panel.getByRole("table")).toContainText("record 299");
});
