import type { Page } from "@playwright/test";
import { startThrowawayService, type ThrowawayService } from "@/testing/services/throwaway-service";
import { cancelRun } from "../support/cancel";
import { cookiesOf, expect, test } from "../support/fixtures";
import { NAV_ITEMS } from "../support/navigation";

/** Uses its own service, because it locks and renames tables. Tables that every page needs are not touched. */

let service: ThrowawayService;
let cookies: Awaited<ReturnType<typeof cookiesOf>>;
test.describe.configure({ mode: "serial" });
test.beforeAll(async ({ browser }) => {
  test.setTimeout(120_000);
  service = await startThrowawayService({ quiet: true });
  cookies = await cookiesOf(browser, service.login, service.base);
});
test.afterAll(() => service.remove());

test.beforeEach(({ context }) => context.addCookies(cookies));

/** Every page reads them to know its reader. */
const OF_READERS = ["members", "sessions"];
/** The tables of an organization's data. */
const OF_PAGES = `
  SELECT string_agg(relname, ', ') AS tables FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
  WHERE attname = 'organization_id' AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> ALL ($1)`;

async function whileLocked(work: () => Promise<void>): Promise<void> {
  await service.withDatabase(async (client) => {
    const { rows } = await client.query<{ tables: string }>(OF_PAGES, [OF_READERS]);
    await client.query(`BEGIN; LOCK TABLE ${rows[0]?.tables} IN ACCESS EXCLUSIVE MODE`);
    try {
      await work();
    } finally {
      await client.query("ROLLBACK");
    }
  });
}

/** Renames the table, so that its readers get an error. */
async function whileAway(table: string, work: () => Promise<void>): Promise<void> {
  const rename = (from: string, to: string) =>
    service.withDatabase((client) => client.query(`ALTER TABLE ${from} RENAME TO ${to}`));
  await rename(table, `${table}_away`);
  try {
    await work();
  } finally {
    await rename(`${table}_away`, table);
  }
}

/** Raises each organization's `in_flight` above its limit, so that no run gets a slot. */
async function whileNoneBegins(work: () => Promise<void>): Promise<void> {
  const count = (by: number) =>
    service.withDatabase((client) =>
      client.query("UPDATE organizations SET in_flight = in_flight + $1", [by]),
    );
  await count(10_000);
  try {
    await work();
  } finally {
    await count(-10_000);
  }
}

const goTo = (page: Page, pageName: string) =>
  page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: pageName, exact: true }).click();
const skeletons = (page: Page) => page.locator("main [aria-busy=true]");
const failure = (page: Page) => page.getByRole("alert").filter({ hasText: "Could not show this page" });

for (const { href, label: pageName } of NAV_ITEMS) {
  const tag = ["/runs", "/metrics"].includes(href) ? [] : "@long";
  test(`${pageName}: its skeleton is shown until its data has loaded`, { tag }, async ({ page }) => {
    await page.goto(`${service.base}/account`);
    await expect(page.getByRole("heading", { name: "Account", level: 1 })).toBeVisible();
    await expect(skeletons(page)).toHaveCount(0);
    await whileLocked(async () => {
      await goTo(page, pageName);
      await expect(page.getByRole("heading", { name: pageName, level: 1 })).toBeVisible();
      await expect(skeletons(page).first()).toBeVisible();
      await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
    });
    await expect(skeletons(page)).toHaveCount(0);
    await expect(page.getByRole("heading", { name: pageName, level: 1 })).toBeVisible();
  });
}

test("a run: its skeleton is shown until it has loaded", async ({ page }) => {
  await page.goto(`${service.base}/runs`);
  const run = page.getByRole("table").getByRole("link").first();
  await expect(run).toBeVisible();
  await whileLocked(async () => {
    await run.click();
    await expect(page).toHaveURL(/\/runs\/[0-9a-f-]{36}$/);
    await expect(skeletons(page).first()).toBeVisible();
    await expect(page.getByRole("listbox", { name: "Timeline" })).toHaveCount(0);
  });
  await expect(page.getByRole("listbox", { name: "Timeline" })).toBeVisible();
  await expect(skeletons(page)).toHaveCount(0);
});

test("a queued run shows how long it has waited, and one that ended before its start that it never started", async ({
  page,
}) => {
  const facts = page.getByRole("region", { name: "Facts" });
  const row = (id: string) => page.getByRole("row").filter({ has: page.locator(`a[href="/runs/${id}"]`) });
  const runAgain = async () => {
    const before = page.url();
    await page.getByRole("button", { name: "Run again", exact: true }).click();
    await page.waitForURL((url) => url.href !== before);
    await expect(facts).toContainText(/Created\d+ \w+ \d\d:\d\d:\d\d/);
    await expect(facts).toContainText(/queued \d+ s/);
    return page.url().split("/").at(-1) ?? "";
  };
  await page.goto(`${service.base}/runs`);
  await page.getByRole("table").getByRole("link").first().click();
  // It started immediately, so only one time is shown.
  await expect(facts).toContainText(/Started\d+ \w+ \d\d:\d\d:\d\dFinished\d\d:\d\d:\d\d/);
  await expect(facts).not.toContainText("Created");
  let later = "";
  await whileNoneBegins(async () => {
    const never = await runAgain();
    await cancelRun(page);
    await expect(facts).toContainText(/StartedneverFinished\d\d:\d\d:\d\d/);
    later = await runAgain();
    await goTo(page, "Runs");
    await expect(row(never)).toContainText(/Cancelled.*–/);
    await expect(row(later)).toContainText(/queued \d+ s/);
    await page.goto(`${service.base}/runs/${later}`);
    await expect(facts).toContainText(/queued \d+ s/);
  });
  await expect(facts).toContainText(/Started\d\d:\d\d:\d\dFinished\d\d:\d\d:\d\d/);
  await goTo(page, "Runs");
  await expect(row(later)).toContainText(/now|\d+ s ago/);
  await expect(row(later).getByRole("link")).toHaveAttribute("title", /Created .*\nStarted .*\nFinished /);
});

test("a page that fails shows an error within the layout, and loads on retry", async ({ page }) => {
  await page.goto(`${service.base}/members`);
  await whileAway("api_keys", async () => {
    // By a link, and by its URL.
    await goTo(page, "API keys");
    await expect(failure(page)).toContainText(/reference \S+/);
    await page.reload();
    await expect(failure(page)).toContainText(/reference \S+/);
    const [reference = "none"] = /reference \d+/.exec(await failure(page).innerText()) ?? [];
    await expect.poll(service.printed).toContain(`A page failed: GET /keys (${reference})`);
    // A retry while it still fails.
    await failure(page).getByRole("button", { name: "Try again" }).click();
    await expect(failure(page)).toBeVisible();
    // Every other page works.
    await goTo(page, "Members");
    await expect(page.getByRole("heading", { name: "Members", level: 1 })).toBeVisible();
    await expect(failure(page)).toHaveCount(0);
    await goTo(page, "API keys");
    await expect(failure(page)).toBeVisible();
  });
  await failure(page).getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { name: "API keys", level: 1 })).toBeVisible();
  await expect(failure(page)).toHaveCount(0);
});

test("a list that fails shows an error in place, and loads on retry", async ({ page }) => {
  const problem = page.getByRole("alert").filter({ hasText: "Could not load" });
  await page.goto(`${service.base}/members`);
  await whileAway("audit_entries", async () => {
    await goTo(page, "Audit log");
    await expect(problem).toContainText(
      /The service failed\. Its log has the cause under the request id \S+/,
    );
    await expect(page.getByRole("heading", { name: "Audit log", level: 1 })).toBeVisible();
  });
  await problem.getByRole("button", { name: "Try again" }).click();
  await expect(problem).toHaveCount(0);
  await expect(page.getByText("Could not")).toHaveCount(0);
});

test("the page reports a lost connection, and catches up when the server is back", async ({ page }) => {
  await page.goto(`${service.base}/runs`);
  await expect(page.getByRole("table").getByRole("link").first()).toBeVisible();
  const bar = page.getByRole("alert").filter({ hasText: "The connection to the server is lost" });
  await page.context().setOffline(true);
  await expect(bar).toBeVisible();
  await bar.getByRole("button", { name: "Retry" }).click();
  await expect(bar).toBeVisible();
  const refreshed = page.waitForResponse((response) => response.url().includes("/api/trpc/runs.list"));
  await page.context().setOffline(false);
  await expect(bar).toHaveCount(0);
  expect((await refreshed).status()).toBe(200);
});

test.describe("with a service worker", () => {
  test.use({ serviceWorkers: "allow" });

  test("a page that cannot be loaded is our own, and loads when the server is back", async ({ page }) => {
    await page.goto(`${service.base}/runs`);
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await page.context().setOffline(true);
    await page.reload();
    const heading = page.getByRole("heading", { name: "The server cannot be reached" });
    await expect(heading).toBeVisible();
    await page.getByRole("link", { name: "Try again" }).click();
    await expect(heading).toBeVisible();
    // It loads the address again by itself.
    await page.context().setOffline(false);
    await expect(page.getByRole("heading", { name: "Runs", level: 1 })).toBeVisible();
  });
});

test("a link that is followed while the server is down waits until it is back", async ({ page }) => {
  await page.goto(`${service.base}/agents`);
  await expect(page.getByRole("heading", { name: "Agents", level: 1 })).toBeVisible();
  await page.route("**/*", (route) => route.abort("connectionrefused"));
  await goTo(page, "Triggers");
  const bar = page.getByRole("alert").filter({ hasText: "The connection to the server is lost" });
  await expect(bar).toBeVisible();
  await expect(page.getByRole("heading", { name: "Agents", level: 1 })).toBeVisible();
  await page.unroute("**/*");
  await expect(page.getByRole("heading", { name: "Triggers", level: 1 })).toBeVisible();
  await expect(bar).toHaveCount(0);
});

test("SIGINT to npm ends the service and its database, and frees the port", () =>
  service.expectToEnd("SIGINT"));
