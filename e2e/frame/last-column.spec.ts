import type { Page } from "@playwright/test";
import { expect, test } from "../support/fixtures";
import { finishRun, startRun } from "../support/start";

const SIZE = { width: 1280, height: 800 };

for (const path of ["/runs", "/agents", "/tools", "/triggers", "/metrics"]) {
  test(`the cells of ${path} keep within their columns at 1,280 px`, async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    await finishRun(request, organization, { tool: organization.toolId, input: { number: 2 } });
    await page.setViewportSize(SIZE);
    await page.goto(path);
    await expect(page.locator("main tbody a").first()).toBeVisible();
    expect(await textsBeyondCells(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(SIZE.width);
  });
}

test("lists keep their first column where the navigation takes their width", async ({ ownerPage: page }) => {
  for (const [width, path] of [
    [768, "/credits"],
    [1024, "/credits"],
    [1024, "/triggers"],
    [1100, "/triggers"],
  ] as const) {
    await page.setViewportSize({ width, height: SIZE.height });
    await page.goto(path);
    await expect(page.locator("main tbody tr").first()).toBeVisible();
    const widths = await page
      .locator("main thead th:first-child")
      .evaluateAll((heads) => heads.map((head) => head.getBoundingClientRect().width));
    expect(Math.min(...widths), `${path} at ${width} px`).toBeGreaterThan(64);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
});

test("the headline of an error can be read at 1,280 px, in a row of the usual height", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const tool = organization.toolIds.inward ?? "";
  const id = await startRun(request, organization, { tool, input: {} });
  await page.setViewportSize(SIZE);
  await page.goto("/runs?status=Failed");
  const row = page.getByRole("row").filter({ has: page.locator(`a[href="/runs/${id}"]`) });
  const headline = row.getByText(/is not a public address/).filter({ visible: true });
  await expect(headline).toBeVisible();
  const isCut = await headline.evaluate(
    (text) => text.scrollWidth > text.clientWidth || text.scrollHeight > text.clientHeight,
  );
  expect(isCut).toBe(false);
  const heights = await page
    .locator("main tbody tr", { has: page.locator('a[href^="/runs/"]') })
    .evaluateAll((rows) => rows.map((each) => each.getBoundingClientRect().height));
  expect(new Set(heights).size).toBe(1);
});

function textsBeyondCells(page: Page): Promise<string[]> {
  return page.locator("main table").evaluateAll((tables) => {
    const beyond: string[] = [];
    for (const cell of tables.flatMap((table) => [...table.querySelectorAll("th, td")])) {
      const { left, right } = cell.getBoundingClientRect();
      const { paddingLeft, paddingRight } = getComputedStyle(cell);
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const { currentNode: text } = texts;
        const parent = text.parentElement;
        if (!parent || parent.closest(".sr-only, .truncate, .mono")) continue;
        const range = document.createRange();
        range.selectNodeContents(text);
        const box = range.getBoundingClientRect();
        const isWithin =
          box.left > left + Number.parseFloat(paddingLeft) - 1 &&
          box.right < right - Number.parseFloat(paddingRight) + 1;
        if (box.width > 0 && !isWithin) beyond.push(text.textContent ?? "");
      }
    }
    return beyond;
  });
}
