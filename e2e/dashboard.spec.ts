import type { Page } from "@playwright/test";
import { clickAtOnce } from "./support/click-at-once";
import { expect, test } from "./support/fixtures";
import { release } from "./support/slow-server";
import { finishRun, finishRuns, startRun } from "./support/start";

/** A unique text for each test, because a worker's tests share one organization. */
const unique = (text: string) => `${text} ${crypto.randomUUID().slice(0, 8)}`;
const rows = (page: Page) => page.getByRole("table", { name: "Runs" }).locator("tbody tr");

test.describe("signing in", () => {
  test("redirects to sign-in, explains a wrong password, and opens the runs after the right one", async ({
    page,
    organization,
  }) => {
    await page.goto("/runs");
    await expect(page).toHaveURL(/\/sign-in/);
    await page.getByLabel("Email").fill(organization.owner.email);
    await page.getByLabel("Password").fill("wrong-password");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByText("Wrong email or password.")).toBeVisible();
    await page.getByLabel("Password").fill(organization.owner.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("heading", { name: "Runs" })).toBeVisible();
  });

  test("sign-out ends the session", async ({ freshOwnerPage: page }) => {
    await page.goto("/runs");
    await page.getByRole("button", { name: /^Signed in as/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.waitForURL("**/sign-in");
    await page.goto("/runs");
    await expect(page).toHaveURL(/\/sign-in/);
  });

  test("applies the chosen theme from the first byte", async ({ ownerPage: page }) => {
    await page.goto("/runs");
    await page.getByRole("button", { name: /^Signed in as/ }).click();
    await page.getByRole("menuitemradio", { name: "Dark" }).click();
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    const html = await (await page.request.get("/runs")).text();
    expect(html).toMatch(/<html[^>]* data-theme="dark"/);
  });
});

test.describe("the list of runs", () => {
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

    // After a reload the page still knows the list it was opened from.
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

  test("new runs wait behind a bar, and shown ones update in place", async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    const first = unique("What is 1 + 1?");
    await finishRun(request, organization, { agent: first });
    await page.goto("/runs?kind=agent");
    await expect(rows(page).filter({ hasText: first })).toHaveCount(1);
    const second = unique("What is 2 + 2?");
    await finishRun(request, organization, { agent: second });
    const bar = page.getByRole("button", { name: /^\d+\+? new$/ });
    await expect(bar).toBeVisible();
    await expect(rows(page).filter({ hasText: second })).toHaveCount(0);
    // It covers no row, on a phone neither.
    await rows(page).first().hover();
    const wide = page.viewportSize();
    await page.setViewportSize({ width: 390, height: 844 });
    await rows(page).first().hover();
    if (wide) await page.setViewportSize(wide);
    await bar.click();
    await expect(rows(page).filter({ hasText: second })).toContainText("Completed");
  });

  test("a run that starts to match the filter waits behind the bar, then appears in order", async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    const older = await startRun(request, organization, {
      tool: organization.counterId,
      input: { to: 1000 },
    });
    const newer = await startRun(request, organization, { tool: organization.counterId, input: { to: 999 } });
    await page.goto(`/runs?status=Cancelled&tool=${organization.counterId}`);
    const cancel = (id: string) =>
      request.post(`/v1/tools/run/${id}/cancel`, { headers: { "X-API-Key": organization.apiKey } });
    expect((await cancel(newer)).status()).toBe(200);
    const row = (id: string) => rows(page).filter({ has: page.locator(`[href="/runs/${id}"]`) });
    const bar = page.getByRole("button", { name: /^\d+\+? new$/ });
    // In an empty list it appears by itself.
    await expect(async () => {
      if (await bar.isVisible()) await bar.click();
      await expect(row(newer)).toBeVisible({ timeout: 500 });
    }).toPass();
    await expect(row(older)).toHaveCount(0);
    expect((await cancel(older)).status()).toBe(200);
    await expect(bar).toBeVisible();
    await expect(row(older)).toHaveCount(0);
    await bar.click();
    await expect(row(older)).toBeVisible();
    const ids = await rows(page)
      .locator("a[data-row]")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")?.split("/").at(-1)));
    expect(ids.indexOf(older)).toBeGreaterThan(ids.indexOf(newer));
  });

  test("selected runs are cancelled together", async ({ ownerPage: page, request, organization }) => {
    const id = await startRun(request, organization, { tool: organization.counterId, input: { to: 1000 } });
    await page.goto(`/runs?q=${id}`);
    await rows(page).first().hover();
    await page.getByRole("checkbox", { name: /^Select the run of Counter/ }).check();
    await page.getByRole("button", { name: "Cancel 1 run" }).click();
    await expect(rows(page).first()).toContainText("Cancelled", { timeout: 20_000 });
  });

  test("the table header stays visible and never covers the focused row", async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    const message = unique("Far down");
    await finishRuns(
      request,
      organization,
      [0, 1, 2, 3, 4, 5].map((n) => `${message} ${n}`),
    );
    await page.setViewportSize({ width: 1000, height: 260 });
    await page.goto(`/runs?q=${encodeURIComponent(message)}`);
    await expect(rows(page)).toHaveCount(6);
    const row = (index: number) => rows(page).nth(index).getByRole("link");
    await row(0).focus();
    for (let n = 1; n < 6; n += 1) {
      await page.keyboard.press("j");
      await expect(row(n)).toBeFocused();
    }
    const head = page.getByRole("columnheader", { name: "Status" });
    await expect(head).toBeInViewport();
    for (let n = 4; n >= 0; n -= 1) {
      await page.keyboard.press("k");
      await expect(row(n)).toBeFocused();
      const [above, focused] = [await head.boundingBox(), await rows(page).nth(n).boundingBox()];
      expect(focused?.y).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0) - 1);
    }
  });

  test("shift selects a range of runs", async ({ ownerPage: page, request, organization }) => {
    const message = unique("Choose me");
    await finishRuns(
      request,
      organization,
      [0, 1, 2].map((n) => `${message} ${n}`),
    );
    await page.goto(`/runs?q=${encodeURIComponent(message)}`);
    await expect(rows(page)).toHaveCount(3);
    const box = (index: number) => rows(page).nth(index).getByRole("checkbox");
    await rows(page).first().hover();
    await box(0).check();
    await rows(page).last().hover();
    await box(2).click({ modifiers: ["Shift"] });
    await expect(page.getByText("3 selected")).toBeVisible();
    await box(1).click({ modifiers: ["Shift"] });
    await expect(page.getByText("1 selected")).toBeVisible();
    await rows(page).last().hover();
    await box(2).check();
    await page.getByRole("region", { name: "Selected runs" }).getByRole("link", { name: "Compare" }).click();
    await expect(page).toHaveURL(/\/runs\/compare\?a=.+&b=.+/);
    await expect(
      page.getByRole("region", { name: "Output", exact: true }).or(page.getByText(message)).first(),
    ).toBeVisible();
  });

  test("cancels all open runs of a filter after showing their number", async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    const id = await startRun(request, organization, { tool: organization.counterId, input: { to: 1000 } });
    await page.goto(`/runs?q=${id}`);
    await page.getByRole("button", { name: "Export and more" }).click();
    await page.getByRole("menuitem", { name: "Cancel all open runs" }).click();
    const dialog = page.getByRole("dialog", { name: "Cancel all open runs" });
    await expect(dialog).toContainText("1 run is open.");
    await dialog.getByRole("button", { name: "Cancel runs" }).click();
    await expect(rows(page).first()).toContainText("Cancelled", { timeout: 20_000 });
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
});

test.describe("the page of a run", () => {
  test("shows input, answer, every step with its input and output, and the figures", async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    const id = await finishRun(request, organization, { agent: "What is 6 * 7?" });
    await page.goto(`/runs/${id}`);
    await expect(page.getByRole("region", { name: "Input", exact: true })).toContainText("What is 6 * 7?");
    await expect(page.getByRole("region", { name: "Answer" })).toContainText("42");
    await expect(page.getByRole("region", { name: "Facts" })).toContainText(
      /Tokens[\d,]+ [\d,]+ in, \d+ out/,
    );
    const timeline = page.getByRole("listbox", { name: "Timeline" });
    await expect(timeline.getByRole("option")).toHaveCount(3);
    await timeline.getByRole("option", { name: /^Step 1 ?calculate/ }).click();
    await expect(page).toHaveURL(/step=1/);
    const step = page.getByRole("region", { name: "Step 1" });
    await expect(step.getByRole("region", { name: "Input of the step" })).toContainText("6 * 7");
    await expect(step.getByRole("region", { name: "Output of the step" })).toContainText("42");
    await timeline.getByRole("option", { selected: true }).focus();
    await page.keyboard.press("ArrowDown");
    await expect(page).toHaveURL(/call=/);
    const call = page.getByRole("region", { name: /^Model call/ });
    await call.getByRole("tab", { name: "Prompt" }).click();
    await expect(call.getByText("result of step 1, calculate")).toBeVisible();
    await expect(call.getByRole("region", { name: "Tools offered" })).toContainText("double");
    await expect(call.getByText("You help with sums.")).toBeHidden();
    await call.getByRole("button", { name: "Show 2 messages of earlier calls" }).click();
    await expect(call.getByText("You help with sums.")).toBeVisible();
  });

  test("the address leads to a step", async ({ ownerPage: page, request, organization }) => {
    const id = await finishRun(request, organization, { tool: organization.counterId, input: { to: 5 } });
    await page.goto(`/runs/${id}?step=4`);
    await expect(page.getByRole("region", { name: "Step 4" })).toBeVisible();
    await expect(page.getByRole("option", { selected: true })).toContainText("4");
  });

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
    const countSteps = async () =>
      Number(await page.getByRole("option").first().getAttribute("aria-setsize"));
    const before = await countSteps();
    await expect.poll(countSteps).toBeGreaterThan(before + 3);
    expect(await page.evaluate(() => Reflect.get(window, "shift"))).toBeLessThan(0.01);
    await page.getByRole("button", { name: "Cancel run" }).click();
    await expect(page.locator("header")).toContainText("Cancelled", { timeout: 20_000 });
  });

  test("nothing moves when a watched run ends", async ({ ownerPage: page, request, organization }) => {
    const tool = organization.toolIds.winding ?? "";
    const id = await startRun(request, organization, { tool, input: { to: 40, fails: false } });
    await page.goto(`/runs/${id}`);
    // All that comes before the end is shown.
    await expect(page.getByText(/^at step \d+, held for/)).toBeVisible({ timeout: 30_000 });
    await page.evaluate(() => {
      const moved: string[] = [];
      Object.assign(window, { moved });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          const sources: unknown = Reflect.get(entry, "sources");
          for (const { node, previousRect: from, currentRect: to } of Array.isArray(sources) ? sources : []) {
            // Figures that tick may grow in place.
            if (from.x === to.x && from.y === to.y) continue;
            moved.push(`${from.x},${from.y} → ${to.x},${to.y}: ${node?.outerHTML ?? node?.textContent}`);
          }
        }
      }).observe({ type: "layout-shift" });
    });
    await release(id);
    await expect(page.locator("header")).toContainText("Completed", { timeout: 60_000 });
    await expect(page.getByRole("button", { name: "Cancel run" })).toHaveCount(0);
    // Shifts are reported with the frame after the next.
    await page.evaluate(
      () => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen))),
    );
    expect(await page.evaluate(() => Reflect.get(window, "moved"))).toEqual([]);
  });

  test("a run is followed to its end without a live stream", async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    await page.route("**/api/live/**", (route) => route.fulfill({ status: 429, json: { success: false } }));
    const id = await startRun(request, organization, { tool: organization.counterId, input: { to: 1000 } });
    await page.goto(`/runs/${id}`);
    const countSteps = async () =>
      Number(await page.getByRole("option").first().getAttribute("aria-setsize"));
    const before = await countSteps();
    await expect.poll(countSteps, { timeout: 30_000 }).toBeGreaterThan(before + 3);
    await page.getByRole("button", { name: "Cancel run" }).click();
    await expect(page.locator("header")).toContainText("Cancelled", { timeout: 30_000 });
  });

  test("a run can be run again, also with different input", async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    const id = await finishRun(request, organization, { tool: organization.toolId, input: { number: 4 } });
    await page.goto(`/runs/${id}`);
    await page.getByRole("button", { name: "Run again", exact: true }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    await expect(page.getByRole("region", { name: "Output", exact: true })).toContainText("8");

    await page.getByRole("button", { name: "More run options" }).click();
    await page.getByRole("menuitem", { name: "With different input" }).click();
    const input = page.getByRole("textbox", { name: "Input, a JSON object" });
    await input.fill("{");
    await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
    await expect(page.getByRole("dialog")).toContainText("This is not valid JSON");
    await input.fill('{"number": "four"}');
    await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
    await expect(page.getByRole("dialog")).toContainText("does not match");
    await expect(page.getByRole("dialog").getByRole("listitem")).toHaveText("/number must be number");

    // The draft is there again, however the dialog was closed.
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await page.getByRole("button", { name: "More run options" }).click();
    await page.getByRole("menuitem", { name: "With different input" }).click();
    await expect(input).toHaveValue('{"number": "four"}');
    await page.getByRole("button", { name: "Reset to the run's input" }).click();
    await expect(input).toHaveValue('{\n  "number": 4\n}');
    await input.fill('{"number": 50}');
    await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
    await expect(page.getByRole("region", { name: "Output", exact: true })).toContainText("100");
  });

  test("two runs are compared side by side", async ({ ownerPage: page, request, organization }) => {
    const a = await finishRun(request, organization, { tool: organization.toolId, input: { number: 3 } });
    const b = await finishRun(request, organization, { tool: organization.toolId, input: { number: 5 } });
    await page.goto(`/runs/${a}`);
    await page.getByRole("link", { name: "Compare" }).click();
    await page.locator(`a[href$="b=${b}"]`).click();
    await expect(page.getByRole("region", { name: "Output", exact: true })).toContainText("doubled");
    await page.getByRole("table", { name: "Steps of both runs" }).getByRole("button").first().click();
    await expect(page.getByRole("region", { name: "Step 1" })).toHaveCount(2);
  });

  test("an unknown run shows a not-found page", async ({ ownerPage: page }) => {
    const answer = await page.goto("/runs/nonsense");
    expect(answer?.status()).toBe(404);
    await expect(page.getByText("Run not found")).toBeVisible();
    const unknown = await page.request.get("/runs/01a1fce1-2efc-779d-96d7-58140f1414c7");
    expect(unknown.status()).toBe(404);
    expect(await unknown.text()).toContain("Run not found");
  });
});

test("a viewer can read, and sees no other actions", async ({ viewerPage: page, request, organization }) => {
  const id = await finishRun(request, organization, { agent: "What is 2 * 2?" });
  await page.goto(`/runs/${id}`);
  await expect(page.getByRole("region", { name: "Answer" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Run again" })).toHaveCount(0);
  const refused = await page.request.post("/api/trpc/runs.rerun", {
    headers: { origin: new URL(page.url()).origin },
    data: { runId: id },
  });
  expect(refused.status()).toBe(403);
});

test("changes are accepted only from the dashboard's own pages", async ({
  ownerPage: page,
  organization,
}) => {
  const body = { kind: "agent", id: organization.agentId, input: "Hello" };
  const foreign = await page.request.post("/api/trpc/runs.start", {
    headers: { origin: "https://evil.test" },
    data: body,
  });
  expect(foreign.status()).toBe(403);
  const form = await page.request.post("/api/trpc/runs.start", {
    headers: { origin: new URL(page.url()).origin, "content-type": "text/plain" },
    data: JSON.stringify(body),
  });
  expect(form.status()).toBe(403);
});

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

test("a click on a bar that is redrawn meanwhile opens its runs", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  await finishRun(request, organization, { tool: organization.toolId, input: { number: 5 } });
  await page.goto("/metrics");
  const chart = page.getByRole("img", { name: /^Runs by status/ });
  const bar = chart.locator("rect.fill-completed-fill");
  await expect(bar).toHaveCount(1);
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

test("the runs list loads less than 250 kB of script", async ({ ownerPage: page }) => {
  let bytes = 0;
  const client = await page.context().newCDPSession(page);
  await client.send("Network.enable");
  await client.send("Network.setCacheDisabled", { cacheDisabled: true });
  const scripts = new Set<string>();
  client.on("Network.responseReceived", ({ requestId, type, response }) => {
    if (type !== "Script") return;
    scripts.add(requestId);
    // So far only the headers have arrived; the budget is for the scripts.
    bytes -= response.encodedDataLength;
  });
  client.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength;
  });
  // Hydrated, so that all scripts have arrived. The network is never idle while the page listens to events.
  await page.goto("/runs");
  await expect(page.getByRole("heading", { name: "Runs" })).toBeVisible();
  expect(scripts.size).toBeGreaterThan(3);
  expect(bytes).toBeLessThan(250_000);
});
