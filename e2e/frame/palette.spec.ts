import type { Page } from "@playwright/test";
import { expect, test } from "../support/fixtures";
import { finishRun, unique } from "../support/start";

const input = (page: Page) => page.getByRole("combobox", { name: "Search or go to" });
const marked = (page: Page) => page.locator("[role=option][data-highlighted]");

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await expect(input(page)).toBeFocused();
}

test("the palette opens pages, agents, tools and triggers by name", async ({
  ownerPage: page,
  organization,
}) => {
  await page.goto("/members");
  for (const [typed, leadsTo] of [
    ["metr", "/metrics"],
    ["agent help", `/agents/${organization.agentId}`],
    ["double", `/tools/${organization.toolId}`],
    [organization.triggerIds.inbound ?? "", `/triggers/${organization.triggerIds.inbound}`],
  ] as const) {
    await openPalette(page);
    await page.keyboard.type(typed);
    await expect(marked(page)).toHaveCount(1);
    await expect(page.getByRole("option").first()).toHaveAttribute("data-highlighted", "");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(leadsTo);
    await expect(input(page)).toHaveCount(0);
  }
});

test("the shortcut opens the palette again while it still closes", async ({ ownerPage: page }) => {
  await page.goto("/members");
  await openPalette(page);
  await page.evaluate(async () => {
    const press = (init: KeyboardEventInit) =>
      document.activeElement?.dispatchEvent(
        new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init }),
      );
    press({ key: "Escape" });
    await new Promise((next) => setTimeout(next));
    press({ key: "k", ctrlKey: true });
  });
  await expect(input(page)).toBeFocused();
});

test("a pasted run id, alone or in an address, opens the run", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { tool: organization.toolId, input: { number: 2 } });
  for (const pasted of [id, `http://stepwell.test/runs/${id}?step=1`]) {
    await page.goto("/agents");
    await openPalette(page);
    await page.keyboard.insertText(pasted);
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(`/runs/${id}`);
    await expect(page.getByRole("heading", { name: "Double", exact: true })).toBeVisible();
  }
});

test("finds runs by their text, and moves through them with the arrow keys", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const text = unique("What is 5 * 5?");
  const id = await finishRun(request, organization, { agent: text });
  await page.goto("/keys");
  await openPalette(page);
  await page.keyboard.type(text);
  await expect(marked(page)).toHaveText(/^Helper ?Completed/);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`/runs/${id}`);
  await openPalette(page);
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("option").nth(1)).toHaveAttribute("data-highlighted", "");
  await page.keyboard.press("ArrowUp");
  await expect(page.getByRole("option").first()).toHaveAttribute("data-highlighted", "");
  await page.keyboard.press("Escape");
  await expect(input(page)).toHaveCount(0);
  await expect(page).toHaveURL(`/runs/${id}`);
});

test("lists the page's actions, and what they open keeps the focus", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const id = await finishRun(request, organization, { tool: organization.toolId, input: { number: 4 } });
  await page.goto(`/runs/${id}`);
  await openPalette(page);
  await page.keyboard.type("different input");
  await page.keyboard.press("Enter");
  const editor = page.getByRole("dialog", { name: "Run Double again" });
  await expect(editor).toBeVisible();
  await expect(editor.locator(":focus")).toHaveCount(1);
  // A shortcut must not discard text typed in a dialog.
  await page.keyboard.press("Control+k");
  await expect(input(page)).toHaveCount(0);
  await page.keyboard.press("Escape");
  await openPalette(page);
  await page.keyboard.type("run again");
  await expect(marked(page)).toHaveText("Run again");
  await page.keyboard.press("Enter");
  await expect(page).not.toHaveURL(`/runs/${id}`);
  await openPalette(page);
  await page.keyboard.type("dark app");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

test("offers a viewer only permitted actions", async ({ viewerPage: page, request, organization }) => {
  const id = await finishRun(request, organization, { tool: organization.toolId, input: { number: 3 } });
  await page.goto(`/runs/${id}`);
  await openPalette(page);
  await expect(page.getByRole("option", { name: "Compare with another run" })).toBeVisible();
  await expect(page.getByRole("option", { name: "Run again" })).toHaveCount(0);
  await expect(page.getByRole("option", { name: "Audit log" })).toHaveCount(0);
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });
  test("a button opens the palette", async ({ ownerPage: page, organization }) => {
    await page.goto("/runs");
    await page.getByRole("button", { name: "Search or go to" }).tap();
    await expect(input(page)).toBeFocused();
    await input(page).fill("inbound");
    await page.getByRole("option").first().tap();
    await expect(page).toHaveURL(`/triggers/${organization.triggerIds.inbound}`);
  });
});
