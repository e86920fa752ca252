import { chromium } from "@playwright/test";
import { findBrowser } from "../browser.mjs";
import { startThrowawayService } from "../throwaway-service.mjs";

/**
 * Measures the dashboard's pages in Chromium against the built service on a throwaway data folder: first and largest
 * paint, layout shift and main-thread work without a cache; and the page of a run with 500 steps whose outputs are a
 * megabyte each (500 MB in total), with an answer of 4 MB.
 *
 *   node scripts/bench/pages.mjs
 */
const LOADS = 3;
const BIG_RUN = "01a1fe2b-ffff-7000-8000-000000000002";
const PAGES = [
  "runs",
  "metrics",
  "agents",
  "tools",
  "triggers",
  "secrets",
  "keys",
  "credits",
  "members",
  "organization",
  "audit",
  "account",
  "api-reference",
];

/** In one transaction: the engine would execute a visible pending run. */
const SEED = `
BEGIN;
INSERT INTO runs (id, organization_id, kind, agent_id, target_name, target_version, model, configuration_hash, source,
                  root_run_id, input, created_at, deadline_seconds)
SELECT '${BIG_RUN}', organization_id, kind, agent_id, target_name, target_version, model, configuration_hash, 'operator',
       '${BIG_RUN}', input, now() - interval '11 minutes', deadline_seconds
FROM runs WHERE kind = 'agent' ORDER BY id LIMIT 1;
INSERT INTO steps (id, organization_id, run_id, key, step_number, iteration_number, tool_name, status, input, output,
                   reasoning, started_at, finished_at, duration_ms)
SELECT gen_random_uuid(), r.organization_id, r.id, 'call-' || n, n, (n - 1) / 42 + 1, 'quote', 'Completed', '{"n":1}',
       (SELECT json_agg(json_build_object('id', g, 'name', 'record ' || g, 'hash', md5((g * n)::text), 'nested',
          json_build_object('a', g * n, 'list', json_build_array(1, 2, 3)), 'text', repeat(md5(g::text), 4)))::text
        FROM generate_series(1, 3800) g),
       repeat('Reasoning goes on. ', 60), r.created_at + n * interval '1 second',
       r.created_at + n * interval '1 second' + interval '900 ms', 900
FROM runs r, generate_series(1, 500) n WHERE r.id = '${BIG_RUN}';
UPDATE runs SET status = 'Running', admitted_at = now(), started_at = created_at, heartbeat_at = now() WHERE id = '${BIG_RUN}';
UPDATE runs SET status = 'Completed', finished_at = now(), output = repeat('A long answer with **Markdown** in it. ', 100000),
                steps_executed = 500 WHERE id = '${BIG_RUN}';
COMMIT`;

const service = await startThrowawayService();
const { base, login } = service;
const found = await findBrowser();
const browser = await chromium.launch({
  ...(found?.executablePath === undefined ? {} : { executablePath: found.executablePath }),
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
try {
  await service.withDatabase((client) => client.query(SEED));
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${base}/sign-in`);
  await page.getByLabel("Email").fill(login.email);
  await page.getByLabel("Password").fill(login.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => url.pathname !== "/sign-in");
  const storageState = await context.storageState();
  await context.close();

  const rows = [];
  for (const path of [...PAGES, `runs/${BIG_RUN}`]) rows.push(await measureLoads(path, storageState));
  console.table(rows);
  console.table(await tryBigRun(storageState));
} finally {
  await browser.close();
  await service.stop();
}

/**
 * The browser's metrics of a page: ms, and the layout shift score.
 * @typedef {{ largest: number, shift: number, long: number[] }} Vitals
 */
/** @typedef {Vitals & { first: number, answer: number }} Load */
/** @typedef {Awaited<ReturnType<import("@playwright/test").BrowserContext["storageState"]>>} Storage */

/** Collects the browser's metrics in `window.vitals`. */
function observe() {
  /** @type {Vitals} */
  const vitals = { largest: 0, shift: 0, long: [] };
  Object.assign(window, { vitals });
  /** @param {string} type @param {(entry: PerformanceEntry & { value?: number, hadRecentInput?: boolean }) => void} take */
  const on = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  on("largest-contentful-paint", (entry) => {
    vitals.largest = entry.startTime;
  });
  on("layout-shift", (entry) => {
    if (!entry.hadRecentInput) vitals.shift += entry.value ?? 0;
  });
  on("longtask", (entry) => vitals.long.push(Math.round(entry.duration)));
}

/** @param {import("@playwright/test").Page} page @returns {Promise<Vitals>} */
function readVitals(page) {
  return page.evaluate(() => Reflect.get(window, "vitals"));
}

/** @param {Storage} storageState */
async function openPage(storageState) {
  const context = await browser.newContext({ storageState, viewport: { width: 1280, height: 800 } });
  await context.addInitScript(observe);
  return { context, page: await context.newPage() };
}

/** @param {string} path @param {Storage} storageState */
async function measureLoads(path, storageState) {
  /** @type {Load[]} */
  const loads = [];
  for (let load = 0; load < LOADS; load += 1) {
    const { context, page } = await openPage(storageState);
    await page.goto(`${base}/${path}`, { waitUntil: "networkidle" }).catch(() => {});
    const times = await page.evaluate(() => ({
      first: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
      answer: performance.getEntriesByType("navigation")[0]?.toJSON().responseStart ?? 0,
    }));
    loads.push({ ...(await readVitals(page)), ...times });
    await context.close();
  }
  /** @param {(load: Load) => number} of */
  const median = (of) => loads.map(of).toSorted((a, b) => a - b)[Math.floor(LOADS / 2)] ?? 0;
  return {
    page: path.slice(0, 14),
    answerMs: Math.round(median((load) => load.answer)),
    firstPaintMs: Math.round(median((load) => load.first)),
    largestPaintMs: Math.round(median((load) => load.largest)),
    worstLargestPaintMs: Math.round(Math.max(...loads.map((load) => load.largest))),
    layoutShift: Number(median((load) => load.shift).toFixed(4)),
    longestTaskMs: median((load) => Math.max(0, ...load.long)),
  };
}

/** @param {Storage} storageState */
async function tryBigRun(storageState) {
  const { context, page } = await openPage(storageState);
  /** @type {object[]} */
  const rows = [];
  /** @param {string} what @param {() => Promise<unknown>} act */
  const note = async (what, act) => {
    const before = (await readVitals(page)).long.length;
    const began = Date.now();
    await act();
    const ms = Date.now() - began;
    await page.waitForTimeout(500);
    const long = (await readVitals(page)).long.slice(before);
    rows.push({ what, ms, longTasks: long.length, longestTaskMs: Math.max(0, ...long) });
  };
  await page.goto(`${base}/runs/${BIG_RUN}`);
  const steps = page.locator("[aria-setsize]");
  await steps.first().waitFor();
  console.log(`Rows drawn of 500 steps: ${await steps.count()}`);
  await page.mouse.move(400, 600);
  await note("60 turns of the wheel", async () => {
    for (let turn = 0; turn < 60; turn += 1) await page.mouse.wheel(0, 300);
  });
  await page.evaluate(() => scrollTo(0, 0));
  await note("a step chosen and shown", async () => {
    await steps.first().click();
    await page.getByText("Reasoning", { exact: true }).first().waitFor();
  });
  await note("60 steps down by key", async () => {
    for (let step = 0; step < 60; step += 1) await page.keyboard.press("ArrowDown");
  });
  await note("to the last by key", () => page.keyboard.press("End"));
  await note("its megabyte loaded as a tree", async () => {
    await page.getByRole("button", { name: /^Load all/ }).click();
    await page
      .getByPlaceholder(/search/i)
      .last()
      .waitFor();
  });
  await note("a search in it", async () => {
    await page
      .getByPlaceholder(/search/i)
      .last()
      .fill("record 3777");
    await page.getByText("1 found").waitFor();
  });
  await note("a text found in all of its steps", async () => {
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox", { name: "Find in this run" }).fill("reasoning GOES");
    await page.getByRole("search").getByText("500 of 500").waitFor();
  });
  await context.close();
  return rows;
}
