import { expect, test } from "../support/fixtures";
import { finishRun, startRun } from "../support/start";

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
  await expect(timeline.getByRole("option", { name: /^Step 1 .*before the shown period/ })).toHaveCount(1);
  await expect(timeline.getByRole("option", { name: /^Step 12.*after the shown period/ })).toHaveCount(1);
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
  await expect(timeline.getByRole("option", { name: /before the shown period/ }).first()).toBeVisible();
  await expect(timeline.getByRole("option", { name: /after the shown period/ }).first()).toBeVisible();
  // Other measures have no zoom; the zoom is restored with the time.
  await page.keyboard.press("c");
  await expect(showAll).toHaveCount(0);
  await page.keyboard.press("t");
  await expect(showAll).toBeVisible();
  await page.keyboard.press("Shift+Z");
  await expect(showAll).toHaveCount(0);

  // Titles offer keys that work.
  const zoom = page.getByRole("button", { name: "Zoom to the selected line" });
  await expect(zoom).toHaveAttribute("title", /line \(z\), or/);
  await page.evaluate(() => localStorage.setItem("stepwell.single-keys", "off"));
  await page.reload();
  await expect(zoom).toHaveAttribute("title", /line, or/);
  await zoom.click();
  await expect(showAll).toHaveAttribute("title", "Show all");
});
