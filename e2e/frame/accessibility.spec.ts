import type { APIRequestContext, Locator, Page } from "@playwright/test";
import { expectAccessible, expectAccessibleOnPhone, loadAxe, PHONE } from "../support/axe";
import { expect, type Organization, test } from "../support/fixtures";
import { NAVIGATION } from "../support/navigation";
import { finishRun } from "../support/start";

/** Each page in both themes and on a phone: no serious axe finding, no console error, no horizontal scrolling. */

test.beforeEach(({ context }) => loadAxe(context));

type World = { request: APIRequestContext; organization: Organization };
/** A worker's tests share them and only read them. */
let agentRun: Promise<string> | undefined;
let toolRun: Promise<string> | undefined;
const runAgent = ({ request, organization }: World) => {
  agentRun ??= finishRun(request, organization, { agent: "What is 6 * 7?" });
  return agentRun;
};
const runTool = ({ request, organization }: World) => {
  toolRun ??= finishRun(request, organization, { tool: organization.toolId, input: { number: 2 } });
  return toolRun;
};

test("sign-in", async ({ page }) => {
  await page.goto("/sign-in");
  await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
  await expectAccessible(page, "sign-in");
});

const PAGES: Record<string, (world: World) => Promise<string[]>> = {
  ...Object.fromEntries(
    NAVIGATION.map(({ title, paths }) => [
      `the navigation, ${title}`,
      async (world: World) => {
        await runAgent(world);
        // Its own test opens parts of it, too; it takes axe long.
        return paths.filter((path) => path !== "/api-reference");
      },
    ]),
  ),
  "the account and no runs": async () => ["/account", "/runs?status=Failed&period=24h&q=nothing"],
  "a run": async (world) => [`/runs/${await runAgent(world)}`, `/runs/${await runTool(world)}?step=1`],
  "a comparison": async (world) => {
    const [a, b] = [await runAgent(world), await runTool(world)];
    return [`/runs/compare?a=${a}&b=${b}`, `/runs/compare?a=${a}`];
  },
  "an agent, a tool, a trigger and a callback": async ({ organization }) => [
    `/agents/${organization.agentId}`,
    `/tools/${organization.toolId}`,
    `/triggers/${organization.triggerIds.doubles}`,
    `/callbacks/${organization.callbackId}`,
  ],
};

for (const [name, pathsOf] of Object.entries(PAGES)) {
  test(`pages: ${name}`, async ({ ownerPage: page, request, organization }) => {
    const paths = await pathsOf({ request, organization });
    const errors: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(`${page.url()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.message}`));
    for (const path of paths) {
      await page.goto(path);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await expectAccessible(page, path);
    }
    expect(errors).toEqual([]);
  });
}

type Opening = (page: Page, world: World) => Promise<unknown>;

const click = (page: Page, role: "button" | "menuitem" | "link", name: string | RegExp) =>
  page
    .getByRole(role, { name, exact: typeof name === "string" })
    .first()
    .click();
const expectShown = (page: Page, role: "dialog" | "menu" | "option" | "table") =>
  expect(page.getByRole(role).first()).toBeVisible();
async function close(page: Page, what: Locator = page.getByRole("dialog")): Promise<void> {
  await page.keyboard.press("Escape");
  await expect(what).toHaveCount(0);
}

/** Each step starts where the previous one ended. */
const OPENINGS: Record<string, Record<string, Opening>> = {
  "of every page": {
    "the palette": async (page) => {
      await page.goto("/members");
      await click(page, "button", "Search or go to");
      await expectShown(page, "option");
    },
    "the palette with nothing found": async (page) => {
      await page.getByRole("combobox").fill("nothing is called this");
      await expect(page.getByText("No results for")).toBeVisible();
    },
    "the menu of the person": async (page) => {
      await close(page);
      await click(page, "button", /^Signed in as/);
      await expectShown(page, "menu");
    },
  },
  "of the runs": {
    "the menu of filters": async (page, world) => {
      await runAgent(world);
      await page.goto("/runs");
      await click(page, "button", "Filter");
      await expectShown(page, "dialog");
      await expect(page.getByRole("option", { name: "Failed" })).toBeVisible();
    },
    "cancelling all": async (page) => {
      await close(page);
      await click(page, "button", "Export and more");
      await click(page, "menuitem", "Cancel all open runs");
      await expectShown(page, "dialog");
    },
    "a row of the list under the pointer": async (page) => {
      await close(page);
      await page.getByRole("row").filter({ hasText: "Completed" }).first().hover();
    },
  },
  "of a run": {
    "run again with different input": async (page, world) => {
      await page.goto(`/runs/${await runAgent(world)}`);
      await click(page, "button", "More run options");
      await click(page, "menuitem", "With different input");
      await expectShown(page, "dialog");
    },
    "the menu of a run": async (page) => {
      await close(page);
      await click(page, "button", "More");
      await expectShown(page, "menu");
    },
    "the configuration of a run": async (page) => {
      await close(page, page.getByRole("menu"));
      await click(page, "button", /^v\d+$/);
      await expect(page.getByRole("dialog")).toContainText("You help with sums.");
    },
    "the keys of a run's page": async (page) => {
      await close(page);
      await page.getByRole("radio", { name: "Credits" }).check({ force: true });
      await page.keyboard.press("?");
      await expectShown(page, "dialog");
    },
  },
  "of a model call": {
    "a model call": async (page, world) => {
      await page.goto(`/runs/${await runAgent(world)}`);
      await page.getByRole("option", { name: /^Model call/ }).click();
      // Until then the tabs are those of the line before.
      const call = page.getByRole("region", { name: /^Model call/ });
      await call.getByRole("tab", { name: "Record" }).click();
      await expect(page.getByRole("tabpanel")).toContainText("iteration");
    },
    "what a model saw": async (page) => {
      const last = page.getByRole("option", { name: /^(Model call|Answer)/ }).last();
      await last.click();
      await expect(last).toHaveAttribute("aria-selected", "true");
      await page.getByRole("tab", { name: "Prompt" }).click();
      const offered = page.getByRole("region", { name: "Tools offered" });
      await offered.getByText("calculate", { exact: true }).click();
    },
  },
  "of a trigger": {
    "a delivery": async (page, { request, organization }) => {
      const headers = { "Content-Type": "application/json" };
      await request.post(organization.triggers.inbound ?? "", { headers, data: { order: 7 } });
      await page.goto(`/triggers/${organization.triggerIds.inbound}?outcome=accepted`);
      await click(page, "link", /^Delivery/);
      await expect(page.getByRole("region", { name: "Body" })).toContainText("order");
    },
    "delivering again": async (page) => {
      await click(page, "button", "Redeliver");
      await expect(page.getByRole("button", { name: "Start the run" })).toBeVisible();
    },
  },
  "of lines": {
    "an audit line": async (page) => {
      await page.goto("/audit");
      await click(page, "button", "Agent created");
      await expect(page.getByRole("table", { name: "Changes" })).toBeVisible();
    },
    "a version": async (page, { organization }) => {
      await page.goto(`/agents/${organization.agentId}`);
      await click(page, "button", /^v1/);
      await expect(page.getByRole("region", { name: "Versions" })).toContainText("gpt-5-mini");
    },
  },
  "of an answer": {
    "an answer of every kind": async (page, { request, organization }) => {
      const showcase = await finishRun(request, organization, { agent: "Markdown of every kind" });
      await page.goto(`/runs/${showcase}`);
      const answer = page.getByRole("region", { name: "Answer" });
      await answer.getByRole("button", { name: /^Show all/ }).click();
      await expect(answer.getByRole("checkbox", { name: "done", exact: true })).toBeChecked();
      await expect(answer.getByRole("region", { name: "Code" })).toHaveAttribute("tabindex", "0");
      await expect(answer.getByRole("img", { name: "dot" })).toBeVisible();
      await expect(answer).toContainText("broken (broken image");
      await expect(answer.getByRole("link", { name: "bad" })).toHaveCount(0);
    },
  },
  "of records": {
    "a value under the pointer": async (page, { request, organization }) => {
      const tool = organization.toolIds["few-records"] ?? "";
      await page.goto(`/runs/${await finishRun(request, organization, { tool, input: {} })}?step=1`);
      await page.getByRole("region", { name: "Input of the step" }).getByRole("listitem").first().hover();
    },
    "records as a table": async (page) => {
      const output = page.getByRole("region", { name: "Output", exact: true });
      await output.getByRole("button", { name: /^Show all/ }).click();
      await output.getByRole("searchbox").fill("record 19");
      await output.getByRole("row").last().hover();
    },
  },
};

/** The others are checked by the long tests. */
const ALWAYS = ["of every page", "of a run"];

for (const [where, openings] of Object.entries(OPENINGS)) {
  const tag = ALWAYS.includes(where) ? [] : "@long";
  const name = `dialogs, menus and other openings ${where}`;
  test(name, { tag }, async ({ ownerPage: page, request, organization }) => {
    for (const [name, open] of Object.entries(openings)) {
      await open(page, { request, organization });
      await expectAccessible(page, name);
    }
  });
}

test.describe("on a phone", () => {
  test.use({ viewport: PHONE });
  test("the navigation, and the facts of a run", async ({ ownerPage: page, request, organization }) => {
    await page.goto(`/runs/${await runAgent({ request, organization })}`);
    await page.getByRole("button", { name: /Facts$/ }).click();
    await click(page, "button", /^v\d+$/);
    await expect(page.getByRole("dialog")).toContainText("You help with sums.");
    await expectAccessibleOnPhone(page, "the configuration of a run");
    await close(page);
    await click(page, "button", "Open the menu");
    await expectShown(page, "dialog");
    await expectAccessibleOnPhone(page, "the navigation");
    // Its menus are above it.
    await click(page, "button", /^Signed in as/);
    await page.getByRole("menuitemradio", { name: "System" }).click();
    await expect(page.getByRole("menu")).toHaveCount(0);
  });

  // Axe accepts a small target that has room around it.
  const heightOf = (target: Locator) => target.evaluate((element) => element.getBoundingClientRect().height);
  const widthOf = (target: Locator) => target.evaluate((element) => element.getBoundingClientRect().width);

  test("links are large enough for a finger beside texts, in a forEach step and above the runs", async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    await page.goto(`/runs/${await runAgent({ request, organization })}`);
    // By time, steps of less than a millisecond have no slowest one.
    await page.getByRole("radio", { name: "Credits" }).check({ force: true });
    expect(await heightOf(page.getByRole("button", { name: /^most/ }))).toBeGreaterThanOrEqual(24);
    await page.goto(`/runs/${await runTool({ request, organization })}?step=1`);
    const download = page.getByRole("link", { name: "Download the input" });
    expect(await heightOf(download)).toBeGreaterThanOrEqual(24);
    const counted = { tool: organization.counterId, input: { to: 25 } };
    await page.goto(`/runs/${await finishRun(request, organization, counted)}`);
    const items = page.getByRole("region", { name: "Items of count" });
    expect(await heightOf(items.getByRole("button", { name: /^count\[/ }))).toBeGreaterThanOrEqual(24);
    // Its number is not shown with these filters.
    await page.goto("/runs?status=Failed&period=24h&kind=tool");
    const all = page
      .getByRole("navigation", { name: "Status" })
      .getByRole("link", { name: "All", exact: true });
    expect(await widthOf(all)).toBeGreaterThanOrEqual(24);
  });

  test("the link to a new password is high enough for a finger", async ({ page }) => {
    await page.goto("/sign-in");
    expect(await heightOf(page.getByRole("link", { name: "Forgot your password?" }))).toBeGreaterThanOrEqual(
      24,
    );
  });
});

test("applies the chosen theme from the first byte", async ({ ownerPage: page }) => {
  await page.goto("/runs");
  await page.getByRole("button", { name: /^Signed in as/ }).click();
  await page.getByRole("menuitemradio", { name: "Dark" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  const html = await (await page.request.get("/runs")).text();
  expect(html).toMatch(/<html[^>]* data-theme="dark"/);
});
