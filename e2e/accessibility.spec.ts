import { VIEWS, WIDE } from "./axe";
import { expect, test } from "./fixtures";
import { finishRun } from "./start";

/** Each page in both themes and on a phone: no serious axe finding, no console error, no horizontal scrolling. */

test("sign-in", async ({ page }) => {
  await page.goto("/sign-in");
  await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
  for (const view of VIEWS) {
    await page.setViewportSize(view.viewport);
    await view.expectNoFaults(page, "sign-in");
  }
});

test("every page", async ({ ownerPage: page, request, organization }) => {
  test.setTimeout(120_000);
  const agentRun = await finishRun(request, organization, { agent: "What is 6 * 7?" });
  const toolRun = await finishRun(request, organization, {
    tool: organization.toolId,
    input: { number: 2 },
  });
  const errors: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(`${page.url()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.message}`));
  for (const path of [
    "/runs",
    "/runs?status=Failed&period=24h&q=nothing",
    `/runs/${agentRun}`,
    `/runs/${toolRun}?step=1`,
    `/runs/compare?a=${agentRun}&b=${toolRun}`,
    `/runs/compare?a=${agentRun}`,
    "/metrics",
    "/agents",
    "/tools",
    "/triggers",
    "/secrets",
    "/keys",
    `/agents/${organization.agentId}`,
    `/tools/${organization.toolId}`,
    `/triggers/${organization.triggerIds.doubles}`,
    "/credits",
    "/members",
    "/organization",
    "/audit",
    "/account",
    "/api-reference",
  ]) {
    await page.setViewportSize(WIDE);
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    for (const view of VIEWS) {
      await page.setViewportSize(view.viewport);
      await view.expectNoFaults(page, path);
      const sideways = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(sideways, `${path} scrolls sideways on a ${view.name} page`).toBe(0);
    }
  }
  expect(errors).toEqual([]);
});

for (const view of VIEWS) {
  test.describe(view.name, () => {
    test.use({ viewport: view.viewport });

    test("dialogs, menus and other openings", async ({ ownerPage: page, request, organization }) => {
      test.setTimeout(120_000);
      const run = await finishRun(request, organization, { agent: "What is 6 * 7?" });
      const headers = { "Content-Type": "application/json" };
      await request.post(organization.triggers.inbound ?? "", { headers, data: { order: 7 } });
      const click = (role: "button" | "menuitem" | "link", name: string | RegExp) =>
        page
          .getByRole(role, { name, exact: typeof name === "string" })
          .first()
          .click();
      const shown = (role: "dialog" | "menu" | "option" | "table") =>
        expect(page.getByRole(role).first()).toBeVisible();
      const openings: Record<string, () => Promise<unknown>> = {
        "the palette": async () => {
          await page.goto(`/runs/${run}`);
          await click("button", "Search or go to");
          await shown("option");
        },
        "the palette with nothing found": async () => {
          await page.getByRole("combobox").fill("nothing is called this");
          await expect(page.getByText("No results for")).toBeVisible();
        },
        "run again with different input": async () => {
          await page.goto(`/runs/${run}`);
          await click("button", "More run options");
          await click("menuitem", "With different input");
          await shown("dialog");
        },
        "the menu of a run": async () => {
          await page.goto(`/runs/${run}`);
          await click("button", "More");
          await shown("menu");
        },
        "the menu of filters": async () => {
          await page.goto("/runs");
          await click("button", "Filter");
          await shown("dialog");
          await expect(page.getByRole("option", { name: "Failed" })).toBeVisible();
        },
        "cancelling all": async () => {
          await page.goto("/runs");
          await click("button", "Export and more");
          await click("menuitem", "Cancel all open runs");
          await shown("dialog");
        },
        "a delivery": async () => {
          await page.goto(`/triggers/${organization.triggerIds.inbound}?outcome=accepted`);
          await click("link", /^Delivery/);
          await expect(page.getByRole("region", { name: "Body" })).toContainText("order");
        },
        "delivering again": async () => {
          await click("button", "Redeliver");
          await expect(page.getByRole("button", { name: "Start the run" })).toBeVisible();
        },
        "an audit line": async () => {
          await page.goto("/audit");
          await click("button", /agent\.created/);
          await shown("table");
        },
        "a version": async () => {
          await page.goto(`/agents/${organization.agentId}`);
          await click("button", /^v1/);
          await expect(page.getByRole("region", { name: "Versions" })).toContainText("gpt-5-mini");
        },
        "a model call": async () => {
          await page.goto(`/runs/${run}`);
          await page.getByRole("option", { name: /^think/ }).click();
          await page.getByRole("tab", { name: "Record" }).click();
          await expect(page.getByRole("tabpanel")).toContainText("iteration");
        },
        "a row of the list under the pointer": async () => {
          await page.goto("/runs");
          await page.getByRole("row").filter({ hasText: "Completed" }).first().hover();
        },
        "the keys of a run's page": async () => {
          await page.goto(`/runs/${run}`);
          await page.getByRole("radio", { name: "Credits" }).check({ force: true });
          await page.keyboard.press("?");
          await shown("dialog");
        },
        "the configuration of a run": async () => {
          await page.goto(`/runs/${run}`);
          await click("button", /^v\d+$/);
          await expect(page.getByRole("dialog")).toContainText("You help with sums.");
        },
        "what a model saw": async () => {
          await page.goto(`/runs/${run}`);
          await page
            .getByRole("option", { name: /^(think|answer)/ })
            .last()
            .click();
          await page.getByRole("tab", { name: "Prompt" }).click();
          await page.getByText("calculate", { exact: true }).last().click();
        },
        ...(view.name === "phone"
          ? {
              "the places": async () => {
                await page.goto("/members");
                await click("button", "Open the menu");
                await shown("dialog");
              },
            }
          : {
              "the menu of the person": async () => {
                await page.goto("/members");
                await click("button", /^Signed in as/);
                await shown("menu");
              },
            }),
      };
      for (const [name, open] of Object.entries(openings)) {
        await open();
        await view.expectNoFaults(page, name);
      }
    });

    test("the input and output of a run", async ({ ownerPage: page, request, organization }) => {
      const showcase = await finishRun(request, organization, { agent: "Markdown of every kind" });
      const tool = organization.toolIds.records ?? "";
      const records = await finishRun(request, organization, { tool, input: {} });
      const openings: Record<string, () => Promise<unknown>> = {
        "an answer of every kind": async () => {
          await page.goto(`/runs/${showcase}`);
          const answer = page.getByRole("region", { name: "Answer" });
          await answer.getByRole("button", { name: /^Show all/ }).click();
          await expect(answer.getByRole("checkbox", { name: "done", exact: true })).toBeChecked();
          await expect(answer.getByRole("region", { name: "Code" })).toHaveAttribute("tabindex", "0");
          await expect(answer.getByRole("img", { name: "dot" })).toBeVisible();
          await expect(answer).toContainText("broken (broken image");
          await expect(answer.getByRole("link", { name: "bad" })).toHaveCount(0);
        },
        "records as a table": async () => {
          await page.goto(`/runs/${records}?step=1`);
          const output = page.getByRole("region", { name: "Output", exact: true });
          await output.getByRole("button", { name: /^Show all/ }).click();
          await output.getByRole("searchbox").fill("record 249");
          await output.getByRole("row").last().hover();
        },
        "a value under the pointer": async () => {
          await page.goto(`/runs/${records}?step=1`);
          await page.getByRole("region", { name: "Input of the step" }).getByRole("listitem").first().hover();
        },
      };
      for (const [name, open] of Object.entries(openings)) {
        await open();
        await view.expectNoFaults(page, name);
      }
    });
  });
}
