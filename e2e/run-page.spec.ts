import { expect, test } from "./support/fixtures";
import { finishRun, startRun } from "./support/start";

/** Child runs, the most expensive steps and the search on a run's page. */

test("a child run's steps unfold below its step, and have addresses", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { agent: "Double 21 for me" });
  await page.goto(`/runs/${id}`);
  const timeline = page.getByRole("listbox", { name: "Timeline" });
  const outer = timeline.getByRole("option", { name: /^Step 1 ?double/ });
  await outer.click();
  await expect(timeline.getByRole("option")).toHaveCount(3);
  await page.keyboard.press("ArrowRight");
  const inner = timeline.getByRole("option", { name: /^Step 1\.1 ?doubled calculate/ });
  await inner.click();
  await expect(page).toHaveURL(/step=1\.1$/);
  await expect(page.getByRole("region", { name: "Output of the step" })).toContainText("42");

  await page.reload();
  await expect(inner).toHaveAttribute("aria-selected", "true");
  await expect(page.getByRole("region", { name: "Output of the step" })).toContainText("42");

  await outer.click();
  await page.getByRole("button", { name: "Hide its steps" }).click();
  await expect(inner).toHaveCount(0);
});

test("a search finds text in all inputs and outputs, and marks it", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  // So few that all rows and their group are drawn.
  const input = { to: 20 };
  const id = await finishRun(request, organization, { tool: organization.counterId, input });
  await page.goto(`/runs/${id}`);
  const timeline = page.getByRole("listbox", { name: "Timeline" });
  await expect(timeline.getByRole("option")).toHaveCount(21);
  await page.keyboard.press("/");
  const find = page.getByRole("searchbox", { name: "Find in this run" });
  await expect(find).toBeFocused();
  // Only one input contains it; no step is named so.
  await page.keyboard.type("/17");
  await expect(page.getByRole("search")).toContainText("1 of 20");
  await page.keyboard.press("Enter");
  await expect(timeline.getByRole("option", { name: /^Step 17/ })).toBeFocused();
  await expect(page).toHaveURL(/step=17$/);

  await find.fill("nowhere to be found");
  await expect(page.getByText(/^Nothing found/)).toBeVisible();
  await find.press("Escape");
  await expect(timeline.getByRole("option")).toHaveCount(21);
});

test("failures, the slowest step and credit costs are one click away", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { agent: "What are 1 / 0 and 6 * 7?" });
  await page.goto(`/runs/${id}`);
  const rows = page.getByRole("listbox", { name: "Timeline" }).getByRole("option");
  const all = await rows.count();
  await page.getByRole("button", { name: "1 failed" }).click();
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText("Failed");
  // Outside the text field, keys do the same.
  await page.locator("h1").click();
  await page.keyboard.press("f");
  await expect(rows).toHaveCount(all);

  await page.getByRole("button", { name: /^slowest: / }).click();
  await expect(page).toHaveURL(/(step|call)=/);
  await page.getByRole("radio", { name: "Credits" }).check({ force: true });
  await expect(rows.first()).toContainText("0.0000");
  await expect(page.getByText(/^actions 0\.0200 100%$/)).toBeVisible();
  await page.keyboard.press("t");
  await expect(page.getByRole("radio", { name: "Time" })).toBeChecked();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys on this page" })).toContainText("failures only");
});

test("a live run shows its current step and that its process is alive", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const input = { to: 1000 };
  const id = await startRun(request, organization, { tool: organization.counterId, input });
  await page.goto(`/runs/${id}`);
  await expect(page.getByText("alive", { exact: true })).toBeVisible();
  await expect(page.getByText(/^(at step \d+, count\[\d+\] for|between two steps)/)).toBeVisible();
  await page.getByRole("button", { name: "Cancel run" }).click();
  await expect(page.getByRole("button", { name: /^slowest: \d+ count/ })).toBeVisible({ timeout: 20_000 });
});

test("a step that will be retried counts down to it", async ({ ownerPage: page, request, organization }) => {
  const tool = organization.toolIds.tireless ?? "";
  const id = await startRun(request, organization, { tool, input: {} });
  await page.goto(`/runs/${id}`);
  await expect(page.getByText(/^at step 1, call for .*, attempt \d+ in \d/)).toBeVisible({ timeout: 20_000 });
  await page.getByRole("listbox", { name: "Timeline" }).getByRole("option").click();
  await page.getByRole("tab", { name: /^Attempts \(\d+\)$/ }).click();
  await expect(page.getByRole("listitem").filter({ hasText: /^1.*division by zero/ })).toBeVisible();
  await page.getByRole("button", { name: "Cancel run" }).click();
  await expect(page.getByRole("button", { name: "Run again", exact: true })).toBeVisible({ timeout: 20_000 });
});

test("attempts are bars that can be opened", async ({ ownerPage: page, request, organization }) => {
  const tool = organization.toolIds.stubborn ?? "";
  const id = await startRun(request, organization, { tool, input: {} });
  await page.goto(`/runs/${id}`);
  const timeline = page.getByRole("listbox", { name: "Timeline" });
  const step = timeline.getByRole("option", { name: /^Step 1 ?call calculate/ });
  await expect(step).toContainText("3 attempts");
  await expect(page.getByText("Failed", { exact: true }).first()).toBeVisible();
  await expect(step.locator("svg rect")).toHaveCount(4); // Its status, and a bar for each attempt.

  await step.click();
  await page.keyboard.press("ArrowRight");
  const attempts = timeline.getByRole("option", { name: /^attempt \d/ });
  await expect(attempts).toHaveCount(3);
  await attempts.nth(1).click();
  await expect(page).toHaveURL(/step=1&attempt=2$/);
  const chosen = page.getByRole("listitem").and(page.locator("[aria-current=true]"));
  await expect(chosen).toContainText(/^2.*after a wait of \d/);

  await page.reload();
  await expect(attempts.nth(1)).toHaveAttribute("aria-selected", "true");
  await expect(chosen).toContainText(/^2/);
  await step.click();
  // A new page replays early clicks but not keys.
  await expect(page).toHaveURL(/step=1$/);
  await page.keyboard.press("ArrowLeft");
  await expect(attempts).toHaveCount(0);
});

test("the wait for a slot is a bar that can be opened", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  // The plan allows ten at once, each of which takes 1.5 s.
  const what = { tool: organization.toolIds.stubborn ?? "", input: {} };
  const ids = await Promise.all(Array.from({ length: 21 }, () => startRun(request, organization, what)));
  const started = async (id: string) => {
    const headers = { "X-API-Key": organization.apiKey };
    return (await request.get(`/v1/tools/run/${id}/status`, { headers })).json();
  };
  const waitsOf = async () => {
    const runs = await Promise.all(ids.map(started));
    return runs.map((run) => (run.startedAt ? Date.parse(run.startedAt) - Date.parse(run.createdAt) : 0));
  };
  await expect.poll(async () => Math.max(...(await waitsOf()))).toBeGreaterThan(1_000);
  const waits = await waitsOf();
  await page.goto(`/runs/${ids[waits.indexOf(Math.max(...waits))]}`);
  const timeline = page.getByRole("listbox", { name: "Timeline" });
  await timeline.getByRole("option", { name: /^queued/ }).click();
  await expect(page).toHaveURL(/wait=queue$/);
  await expect(page.getByRole("region", { name: "Wait" })).toContainText("until a slot was free");
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("region", { name: "Step 1" })).toBeVisible();
});

test("a run's configuration opens beside what has changed since", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const a = await finishRun(request, organization, { agent: "What is 2 + 2?" });
  const b = await finishRun(request, organization, { agent: "What is 2 + 3?" });
  await page.goto(`/runs/${a}`);
  await page.getByRole("button", { name: /^v\d+$/ }).click();
  const dialog = page.getByRole("dialog", { name: /^Configuration of this run/ });
  await expect(dialog).toContainText("You help with sums.");
  await expect(dialog).toContainText("double v1");
  await expect(dialog).toContainText("A run started now would use the same configuration.");
  await page.goto(`/runs/compare?a=${a}&b=${b}`);
  await expect(page.getByRole("region", { name: "Configuration" })).toContainText("the same");
});

test("on a phone, a step's texts are near, however long the timeline", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const input = { to: 30 };
  const id = await finishRun(request, organization, { tool: organization.counterId, input });
  await page.goto(`/runs/${id}`);
  const rows = page.getByRole("listbox", { name: "Timeline" }).getByRole("option");
  await rows.first().click();
  await page.keyboard.press("ArrowRight");
  await rows.nth(3).click();
  const step = page.getByRole("region", { name: "Step 3" });
  await expect(step).toBeInViewport();
  const top = await step.evaluate((element) => element.getBoundingClientRect().top + window.scrollY);
  expect(top).toBeLessThan(844);
});

test("the axis shows as many labels as fit", async ({ ownerPage: page, request, organization }) => {
  const id = await finishRun(request, organization, { tool: organization.counterId, input: { to: 20 } });
  await page.goto(`/runs/${id}`);
  const timeline = page.getByRole("listbox", { name: "Timeline" });
  await expect(timeline.getByRole("option")).toHaveCount(21);
  const labels = () =>
    page.locator("svg text").evaluateAll((texts) =>
      texts
        .map((text) => text.getBoundingClientRect())
        .filter((box) => box.width > 0)
        .map(({ left, right }) => ({ left, right })),
    );
  const count = async () => (await labels()).length;
  const smallestGap = async () =>
    (await labels()).reduce(
      (least, { left }, index, all) =>
        Math.min(least, left - (all[index - 1]?.right ?? Number.NEGATIVE_INFINITY)),
      Number.POSITIVE_INFINITY,
    );
  // Two labels fit into this width, however long the run took. The axis follows the page's width a moment later.
  const isFull = async () =>
    (await count()) >= (((await page.locator("svg:has(text)").boundingBox())?.width ?? 0) < 200 ? 1 : 2);
  for (const width of [390, 768, 1024, 1280, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await expect.poll(isFull).toBe(true);
    await expect.poll(smallestGap).toBeGreaterThan(4);
  }
});

test("zooms to the selected line, and by dragging over the axis", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { tool: organization.toolIds.steady ?? "", input: {} });
  await page.goto(`/runs/${id}?step=6`);
  const timeline = page.getByRole("listbox", { name: "Timeline" });
  const row = timeline.getByRole("option", { name: /^Step 6/ });
  const barOf = async () => (await row.locator("svg rect").boundingBox())?.width ?? 0;
  const small = await barOf();
  await page.getByRole("button", { name: "Zoom to the selected line" }).click();
  await expect.poll(barOf).toBeGreaterThan(small);
  await expect(timeline.getByRole("option", { name: /^Step 1 .*before what is shown/ })).toHaveCount(1);
  await expect(timeline.getByRole("option", { name: /^Step 12.*after what is shown/ })).toHaveCount(1);
  // The row stays selected, with its total duration.
  await expect(row).toHaveAttribute("aria-selected", "true");

  const showAll = page.getByRole("button", { name: /^Show all \d/ });
  await showAll.click();
  await expect(showAll).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Zoom to the selected line" })).toBeFocused();
  await expect.poll(barOf).toBeCloseTo(small, 0);
  await page.keyboard.press("z");
  await expect(showAll).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(showAll).toHaveCount(0);

  // From the tenth step back to the third, wherever they are.
  const axis = await page.locator("svg:has(text)").boundingBox();
  const [third, tenth] = await Promise.all(
    [/^Step 3 /, /^Step 10 /].map((name) =>
      timeline.getByRole("option", { name }).locator("svg rect").first().boundingBox(),
    ),
  );
  if (!axis || !third || !tenth) throw new Error("The axis and the bars have no size.");
  const y = axis.y + axis.height / 2;
  await page.mouse.move(tenth.x, y);
  await page.mouse.down();
  await page.mouse.move((third.x + tenth.x) / 2, y);
  await page.mouse.move(third.x + third.width, y);
  await page.mouse.up();
  await expect(showAll).toBeVisible();
  await expect(timeline.getByRole("option", { name: /before what is shown/ }).first()).toBeVisible();
  await expect(timeline.getByRole("option", { name: /after what is shown/ }).first()).toBeVisible();
  // Other measures have no zoom; the zoom is restored with the time.
  await page.keyboard.press("c");
  await expect(showAll).toHaveCount(0);
  await page.keyboard.press("t");
  await expect(showAll).toBeVisible();
  await page.keyboard.press("Shift+Z");
  await expect(showAll).toHaveCount(0);
});

test("records are tables, searched by row, and raw on demand", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const tool = organization.toolIds.records ?? "";
  const id = await finishRun(request, organization, { tool, input: {} });
  await page.goto(`/runs/${id}?step=1`);
  const output = page.getByRole("region", { name: "Output", exact: true });
  // The tab key skips what is below the edge of a collapsed text.
  const hidden = () => output.locator("button[inert]", { hasText: /^Next$/ }).count();
  await expect.poll(hidden).toBe(1);
  await output.getByRole("button", { name: /^Show all/ }).click();
  await expect(output.getByRole("row")).toHaveCount(101);
  await output.getByRole("button", { name: "Next" }).click();
  await expect(output).toContainText("101–200 of 250 rows");
  const search = output.getByRole("searchbox", { name: "Search this document" });
  // Matches begin on the first page.
  await search.fill("record");
  await expect(output).toContainText("1–100 of 250 rows");
  await search.fill("record 249");
  await expect(output.getByRole("row")).toHaveCount(2);
  await expect(output.getByRole("table")).toContainText("record 249");
  await output.getByRole("button", { name: "Raw" }).click();
  await expect(output).toContainText('{"total":250,"items":[{"id":1,"name":"record 1"}');

  const input = page.getByRole("region", { name: "Input of the step" });
  await input.getByRole("button", { name: "Raw" }).click();
  await expect(input).toContainText('{"value":250,"expression":');
  // An empty value has nothing to expand.
  const given = page.getByRole("region", { name: "Input", exact: true });
  await expect(given.getByRole("button")).toHaveCount(1);

  await page.getByRole("tab", { name: "Record" }).click();
  await expect(page.getByRole("tabpanel")).toContainText("startedAt");
  await expect(page.getByRole("tabpanel")).not.toContainText("record 1");
});

test("a step's items and a model call's steps fold into one line", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const input = { to: 25 };
  const id = await finishRun(request, organization, { tool: organization.counterId, input });
  await page.goto(`/runs/${id}`);
  const rows = page.getByRole("listbox", { name: "Timeline" }).getByRole("option");
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText("count×25, 25 items");
  await expect(page.getByRole("region", { name: "Items of count" })).toBeVisible();
  await page.keyboard.press("c");
  await expect(rows).toContainText("0.2500");
  // The selected row is visible.
  await page.getByRole("button", { name: /^most: \d+ count/ }).click();
  await expect(rows.first()).toHaveAttribute("aria-setsize", "26");
  await expect(page).toHaveURL(/step=\d+$/);
  // Collapsing the group of the selected line selects the group.
  await page.keyboard.press("o");
  await expect(rows).toHaveCount(1);
  await expect(rows).toHaveAttribute("aria-selected", "true");
  await expect(page).toHaveURL(/group=count$/);
  // Search results inside collapsed lines are shown.
  await page.keyboard.press("/");
  await page.keyboard.type("/17");
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText("count[16]");

  const agent = await finishRun(request, organization, { agent: "What are 1 / 0 and 6 * 7?" });
  await page.goto(`/runs/${agent}`);
  const all = await rows.count();
  await rows.first().click();
  await expect(page).toHaveURL(/call=think-1$/);
  await page.keyboard.press("ArrowLeft");
  await expect(rows.first()).toContainText(/\+1 step, 1 failed/);
  expect(await rows.count()).toBe(all - 1);
  await page.keyboard.press("ArrowRight");
  await expect(rows).toHaveCount(all);
});
