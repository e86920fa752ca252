import type { Locator } from "@playwright/test";
import { cancelRun } from "../support/cancel";
import { breakOff, checkConnection, connectionBar } from "../support/connection";
import { expect, test } from "../support/fixtures";
import { release, slowServerPort } from "../support/slow-server";
import { startRun } from "../support/start";

test("a live run updates step by step until it is cancelled, without layout shifts", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await startRun(request, organization, { tool: organization.counterId, input: { to: 1000 } });
  await page.goto(`/runs/${id}`);
  await expect(page.getByRole("option").nth(3)).toBeVisible();
  await page.evaluate(() => {
    Object.assign(window, { shift: 0 });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if ("value" in entry && !("hadRecentInput" in entry && entry.hadRecentInput)) {
          Object.assign(window, { shift: Reflect.get(window, "shift") + entry.value });
        }
      }
    }).observe({ type: "layout-shift" });
  });
  // Only the visible rows of a long list are drawn; each has the size of the list.
  const countSteps = async () => Number(await page.getByRole("option").first().getAttribute("aria-setsize"));
  const before = await countSteps();
  await expect.poll(countSteps).toBeGreaterThan(before + 3);
  expect(await page.evaluate(() => Reflect.get(window, "shift"))).toBeLessThan(0.01);

  // A search finds steps that come later. Their names do not contain the text.
  await page.getByRole("searchbox", { name: "Find in this run" }).fill(`:${slowServerPort()}/`);
  const countFound = async () =>
    Number(/(\d+) of/.exec((await page.getByRole("search").textContent()) ?? "")?.[1] ?? 0);
  await expect.poll(countFound).toBeGreaterThan(0);
  const found = await countFound();
  await expect.poll(countFound).toBeGreaterThan(found);
  await cancelRun(page);
  await expect(page.locator("header")).toContainText("Cancelled", { timeout: 20_000 });
});

test("a live run is followed until the reader scrolls, and again on demand", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const input = { to: 1000 };
  const id = await startRun(request, organization, { tool: organization.counterId, input });
  await page.goto(`/runs/${id}`);
  const timeline = page.getByRole("listbox", { name: "Timeline" });
  const rows = timeline.getByRole("option");
  const count = async () => Number(await rows.first().getAttribute("aria-setsize"));
  const top = () => timeline.evaluate((list) => list.scrollTop);
  await expect.poll(top, { timeout: 30_000 }).toBeGreaterThan(300);
  const follow = page.getByRole("button", { name: "Follow the newest step" });
  await expect(follow).toHaveCount(0);

  await timeline.hover();
  await page.mouse.wheel(0, -100_000);
  await expect(follow).toBeVisible();
  const heading = page.getByRole("heading", { level: 2, name: /^Step \d+/ });
  const open = await heading.textContent();
  const before = await count();
  await expect.poll(count).toBeGreaterThan(before + 10);
  // A line for a wait may have come in above.
  expect(await top()).toBeLessThan(150);
  expect(await heading.textContent()).toBe(open);

  await follow.click();
  await expect(follow).toHaveCount(0);
  await expect.poll(top).toBeGreaterThan(300);
  const newest = timeline.getByRole("option", { selected: true });
  await expect
    .poll(async () => Number(await newest.getAttribute("aria-posinset")))
    .toBeGreaterThan(before + 10);
  await cancelRun(page);
  await expect(page.locator("header")).toContainText("Cancelled", { timeout: 20_000 });
});

test("a run is followed to its end without a live stream", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const message = "You have 20 live views open, which is the limit. Close some tabs.";
  const json = { success: false, code: "rate_limited", message };
  await page.route("**/api/live/**", (route) => route.fulfill({ status: 429, json }));
  const id = await startRun(request, organization, { tool: organization.counterId, input: { to: 1000 } });
  await page.goto(`/runs/${id}`);
  const countSteps = async () => Number(await page.getByRole("option").first().getAttribute("aria-setsize"));
  const before = await countSteps();
  await expect.poll(countSteps, { timeout: 30_000 }).toBeGreaterThan(before + 3);
  const bar = page.getByRole("alert").filter({ hasText: message });
  await expect(bar).toBeVisible();
  await cancelRun(page);
  await expect(page.locator("header")).toContainText("Cancelled", { timeout: 30_000 });
  await expect(bar).toHaveCount(0);
});

test("a live page holds no stream while it is hidden, and replaces one that is silent", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  await page.clock.install();
  // The first stream never answers.
  let streams = 0;
  await page.route("**/api/live/**", (route) => {
    streams += 1;
    return streams === 1 ? undefined : route.continue();
  });
  const id = await startRun(request, organization, { tool: organization.counterId, input: { to: 1000 } });
  await page.goto(`/runs/${id}`);
  await expect.poll(() => streams).toBe(1);
  await page.clock.fastForward("00:41");
  const countSteps = async () => Number(await page.getByRole("option").first().getAttribute("aria-setsize"));
  const before = await countSteps();
  await expect.poll(countSteps).toBeGreaterThan(before);
  expect(streams).toBe(2);

  const show = (state: DocumentVisibilityState) =>
    page.evaluate((state) => {
      Object.defineProperty(document, "visibilityState", { configurable: true, value: state });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  const closed = page.waitForEvent("requestfailed", (each) => each.resourceType() === "eventsource");
  await show("hidden");
  await closed;
  await page.clock.fastForward("05:00");
  expect(streams).toBe(2);
  const headers = { "X-API-Key": organization.apiKey };
  const cancelled = await request.post(`/v1/tools/run/${id}/cancel`, { headers });
  expect(cancelled.status()).toBe(200);
  await show("visible");
  await expect(page.locator("header")).toContainText("Cancelled", { timeout: 20_000 });
  expect(streams).toBe(3);
});

test("an answer that arrives after the run's end does not bring its earlier state back", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const tool = organization.toolIds.winding ?? "";
  const id = await startRun(request, organization, { tool, input: { to: 3, fails: false } });
  await page.goto(`/runs/${id}`);
  await expect(page.getByRole("heading", { level: 2, name: /^Step \d+/ })).toHaveText(/^Step 4 · held/);
  let pass = () => {};
  const isOver = new Promise<void>((resolve) => {
    pass = resolve;
  });
  const inspections = /\/api\/trpc\/[^?]*runs\.inspect/;
  const received = page.waitForResponse(inspections);
  let fetched = () => {};
  const isFetched = new Promise<void>((resolve) => {
    fetched = resolve;
  });
  await page.route(inspections, async (route) => {
    const response = await route.fetch();
    fetched();
    await isOver;
    await route.fulfill({ response });
  });
  // After a lost connection, the page reads the run again.
  const end = await breakOff(page, "**/api/health");
  await checkConnection(page);
  await expect(connectionBar(page)).toBeVisible();
  await end();
  await checkConnection(page);
  await isFetched;
  await release(id);
  const head = page.locator("header");
  await expect(head).toContainText("Completed", { timeout: 20_000 });
  pass();
  await (await received).finished();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  expect(await head.textContent()).toContain("Completed");
});

for (const [end, isSelected] of [
  ["Cancelled", false],
  ["Cancelled", true],
  ["Completed", true],
  ["Failed", true],
] as const) {
  test(`the ${isSelected ? "selected" : "followed"} line stays open when its run ends as ${end}`, async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    const tool = organization.toolIds.winding ?? "";
    const id = await startRun(request, organization, { tool, input: { to: 3, fails: end === "Failed" } });
    await page.goto(`/runs/${id}`);
    const heading = page.getByRole("heading", { level: 2, name: /^Step \d+/ });
    // The newest line is followed.
    await expect(heading).toHaveText(/^Step 4 · held/);
    const second = page.getByRole("option").filter({ hasText: "count[1]" });
    if (isSelected) {
      await second.click();
      await expect(heading).toHaveText(/^Step 2 · count\[1\]/);
    }
    if (end === "Cancelled") await cancelRun(page);
    else await release(id);
    await expect(page.locator("header")).toContainText(end, { timeout: 20_000 });
    await expect(heading).toHaveText(isSelected ? /^Step 2 · count\[1\]/ : /^Step 4 · held/);
    await expect(page.getByRole("option", { selected: true })).toContainText(
      isSelected ? "count[1]" : "held",
    );
  });
}

for (const width of [390, 1280]) {
  test(`at ${width} pixels a watched run that is cancelled keeps no space for an output`, async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    await page.setViewportSize({ width, height: 844 });
    const tool = organization.toolIds.winding ?? "";
    const id = await startRun(request, organization, { tool, input: { to: 2, fails: false } });
    await page.goto(`/runs/${id}`);
    await expect(page.getByText(/^at step \d+, held for/)).toBeVisible({ timeout: 30_000 });
    await cancelRun(page);
    await expect(page.locator("header")).toContainText("Cancelled", { timeout: 20_000 });
    const bottom = (of: Locator) => of.evaluate((element) => element.getBoundingClientRect().bottom);
    const top = (of: Locator) => of.evaluate((element) => element.getBoundingClientRect().top);
    const input = page.getByRole("region", { name: "Input", exact: true });
    const search = page.getByPlaceholder("Find in all texts");
    expect((await top(search)) - (await bottom(input))).toBeLessThan(80);
    const heading = page.getByRole("heading", { level: 2, name: /^Step \d+/ });
    if (width === 390) {
      const last = page.getByRole("option").last();
      expect((await top(heading)) - (await bottom(last))).toBeLessThan(80);
    }
  });
}

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
  // The slowest of one step is not named.
  await expect(page.getByRole("heading", { level: 2, name: /^Step ([2-9]|\d{2,}) · count/ })).toBeVisible();
  await cancelRun(page);
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
  await cancelRun(page);
  await expect(page.getByRole("button", { name: "Run again", exact: true })).toBeVisible({ timeout: 20_000 });
});

for (const [words, aheadMs] of [
  ["fast", 3_600_000],
  ["slow", -3_600_000],
] as const) {
  test(`shows a run's duration correctly when the browser's clock is an hour ${words}`, async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    await page.addInitScript((by) => {
      const now = Date.now;
      Date.now = () => now() + by;
    }, aheadMs);
    const input = { to: 1000 };
    const id = await startRun(request, organization, { tool: organization.counterId, input });
    await page.goto(`/runs/${id}`);
    const duration = page
      .getByRole("region", { name: "Facts" })
      .locator("dl > div")
      .filter({ hasText: /^Duration/ });
    // Neither 0 ms nor an hour.
    await expect(duration).toHaveText(/^Duration[1-9]\d?\.\d+ s$/);
    await cancelRun(page);
    await expect(page.locator("header")).toContainText("Cancelled", { timeout: 20_000 });
  });
}
