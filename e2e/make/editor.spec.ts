import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/axe";
import { editor, expectText, fillEditor, textOf } from "../support/editor";
import { expect, test } from "../support/fixtures";
import { NAV_ITEMS } from "../support/navigation";

const unique = () => `${Date.now().toString(36)}${test.info().workerIndex}`;
const options = (page: Page) => page.getByRole("listbox").getByRole("option");

/** Uses the pointer, because the keyboard takes no offer that has just appeared. */
async function complete(page: Page, typed: string, offer: string | RegExp): Promise<void> {
  await page.keyboard.type(typed);
  await expect(options(page).first()).toHaveText(offer);
  await options(page).first().click();
  await expect(options(page).filter({ hasText: offer })).toHaveCount(0);
}

async function openYaml(page: Page) {
  await page.goto("/tools/new?from=greeting");
  await page.getByRole("button", { name: "YAML", exact: true }).click();
  return editor(page, "Definition as YAML");
}

test("YAML is completed with keys, functions, inputs, steps and secrets", async ({ ownerPage: page }) => {
  const secret = `shop_${unique()}`;
  const created = await page.request.post("/api/trpc/secrets.create", {
    headers: { "sec-fetch-site": "same-origin" },
    data: { name: secret, value: "a value that nobody reads", hosts: ["shop.test"] },
  });
  expect(created.status(), await created.text()).toBe(200);
  const yaml = await openYaml(page);
  await fillEditor(
    yaml,
    "slug: a\nname: A\nparameters:\n  type: object\n  properties: { city: { type: string } }\nsteps:\n  - id: one",
  );
  await yaml.press("Enter");
  await complete(page, "us", /^uses/);
  // Its functions are offered at once.
  await expect(options(page).first()).toHaveText("calculate");
  await expectAccessible(page, "the list of completions");
  await complete(page, "http", "http_request");
  await page.keyboard.press("Enter");
  await complete(page, "wit", /^with/);
  await complete(page, "ur", /^url/);
  await complete(page, '"https://shop.test/{{in', /^input/);
  await complete(page, ".", /^city/);
  await expectText(yaml, /with:\n {6}url: "https:\/\/shop\.test\/\{\{ input\.city \}\}"$/);
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await complete(page, 'headers: { authorization: "Bearer {{secrets.sh', secret);
  await expectText(yaml, new RegExp(`Bearer \\{\\{secrets\\.${secret} \\}\\}`));
  // The outputs of an earlier step, from the function's schema.
  await fillEditor(yaml, `${await textOf(yaml)}\noutput: "{{ steps.one.sta"`);
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Control+Space");
  await expect(options(page).first()).toContainText("status");
});

test("problems are marked at their place, and the keyboard leads to them", async ({ ownerPage: page }) => {
  const yaml = await openYaml(page);
  const before = await textOf(yaml);
  await fillEditor(yaml, before.replace("transform_json", "transform_jsn"));
  await expect(page.locator(".cm-lintRange-error")).toHaveText("transform_jsn");
  await expect(page.locator(".cm-lint-marker-error")).toHaveCount(1);
  await yaml.press("ControlOrMeta+Home");
  await page.keyboard.press("F8");
  await expect(page.locator(".cm-diagnostic")).toContainText('There is no function named "transform_jsn"');
  await expectAccessible(page, "a problem in YAML");
  await page.getByRole("button", { name: "Discard" }).click();
  await expectText(yaml, before);
  await page.getByRole("button", { name: "Undo" }).click();
  await expectText(yaml, before.replace("transform_json", "transform_jsn"));
  await page.getByRole("button", { name: "Discard" }).click();
  await expectText(yaml, before);
  await expect(page.locator(".cm-lintRange-error")).toHaveCount(0);

  await page.getByRole("button", { name: "Form", exact: true }).click();
  await page
    .getByRole("list", { name: "Steps" })
    .getByRole("button", { name: /^Name and input/ })
    .click();
  await page
    .getByRole("group", { name: "Parameters", exact: true })
    .getByRole("button", { name: "JSON Schema" })
    .click();
  const schema = editor(page, "Parameters");
  await fillEditor(schema, '{ "type": "object", }');
  await expect(schema).toHaveAttribute("aria-invalid", "true");
  await expect(page.locator(".cm-lintRange-error").first()).toBeVisible();
  await fillEditor(schema, '{ "type": "object", "properties": { "a": { "type": "strin" } } }');
  await expect(page.locator(".cm-lintRange-error")).toHaveText('"strin"');
});

test("Tab leaves a field, and YAML after Escape; undo, find and fold work", async ({ ownerPage: page }) => {
  const yaml = await openYaml(page);
  const before = await textOf(yaml);
  await yaml.press("ControlOrMeta+Home");
  await page.keyboard.press("Tab");
  await expectText(yaml, `  ${before}`);
  await page.keyboard.press("ControlOrMeta+z");
  await expectText(yaml, before);
  await page.keyboard.press("ControlOrMeta+f");
  const find = page.getByRole("textbox", { name: "Find" });
  await expect(find).toBeFocused();
  await page.keyboard.type("greeting");
  await page.keyboard.press("Enter");
  await expect(page.locator(".cm-searchMatch-selected")).toHaveText("greeting");
  await expectAccessible(page, "finding in an editor");
  await page.keyboard.press("Escape");
  await expect(find).toHaveCount(0);
  await expect(yaml).toBeFocused();
  await page.getByTitle("Fold", { exact: true }).first().click();
  await expect(page.locator(".cm-foldPlaceholder")).toHaveCount(1);
  await expectAccessible(page, "folded YAML");
  await yaml.press("Escape");
  await page.keyboard.press("Tab");
  await expect(yaml).not.toBeFocused();

  await page.getByRole("button", { name: "Form", exact: true }).click();
  await page
    .getByRole("list", { name: "Steps" })
    .getByRole("button", { name: /^greeting/ })
    .click();
  const expression = editor(page, "expression");
  await page.getByText("expression", { exact: true }).click();
  await expect(expression).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(expression).not.toBeFocused();
});

test("a prompt colors and completes the names of attached functions", async ({ ownerPage: page }) => {
  await page.goto("/agents/new");
  await page.getByRole("checkbox", { name: /^calculate/ }).check();
  const prompt = editor(page, "System prompt");
  await prompt.click();
  await complete(page, "# Sums\nUse calc", /^calculate/);
  await expectText(prompt, "# Sums\nUse calculate");
  await expect(page.locator(".cm-name")).toHaveText("calculate");
  await expectAccessible(page, "a prompt");
});

test("a run starts only with the JSON that its fields show", async ({ ownerPage: page }) => {
  const slug = `needs-${unique()}`;
  const saved = await page.request.post("/api/trpc/definitions.saveTool", {
    headers: { "sec-fetch-site": "same-origin" },
    data: {
      yaml: `slug: ${slug}\nname: Needs\nparameters: { type: object, properties: { any: { type: object }, things: { type: array, items: { type: object } } }, required: [any] }\nsteps: [{ id: a, uses: current_time }]`,
      expected: { only: "create" },
    },
  });
  expect(saved.status(), await saved.text()).toBe(200);
  await page.goto("/tools");
  await page.getByRole("link", { name: "Needs" }).first().click();
  const value = editor(page, "any");
  await expect(value).toBeVisible();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("alert").filter({ hasText: "Fill in this field." })).toBeVisible();
  await expect(value).toBeFocused();
  await page.keyboard.type('{"a": 1}');
  await page.keyboard.type("x");
  const add = page.getByRole("button", { name: "Add to things" });
  const remove = page.getByRole("button", { name: "Remove things 1" });
  const first = editor(page, "things 1");
  await add.click();
  await add.click();
  await fillEditor(first, "{");
  await remove.click();
  await expectText(first, "null");
  await add.click();
  await fillEditor(first, "1");
  await fillEditor(editor(page, "things 2"), '{"b":2}');
  await remove.click();
  await expectText(first, '{"b":2}');
  const inputs: unknown[] = [];
  page.on("request", (request) => {
    if (request.url().includes("runs.start")) inputs.push(request.postDataJSON()["0"].input);
  });
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(value).toBeFocused();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("region", { name: "Run Needs" }).getByText("Completed")).toBeVisible();
  expect(inputs).toEqual(['{"any":{"a":1},"things":[{"b":2}]}']);
});

test("without its script, texts are typed in plain fields", async ({ ownerPage: page }) => {
  await page.route("**/_next/static/chunks/*.js", async (route) => {
    const response = await route.fetch();
    if ((await response.text()).includes("cm-scroller")) await route.abort();
    else await route.fulfill({ response });
  });
  await page.goto("/agents/new");
  const prompt = page.getByLabel("System prompt", { exact: true });
  await prompt.fill("Answer in one word.");
  await expect(page.getByText("Unsaved changes")).toBeVisible();
  await expect(prompt).toHaveValue("Answer in one word.");
});

test("only pages with an editor load its script", async ({ ownerPage: page, organization }) => {
  let loads = 0;
  page.on("response", async (response) => {
    if (!response.url().includes("/_next/static/chunks/")) return;
    const text = await response.text().catch(() => "");
    if (text.includes("cm-scroller")) loads += 1;
  });
  const without = NAV_ITEMS.map(({ href }) => href).filter((href) => href !== "/api-reference");
  for (const path of [...without, `/agents/${organization.agentId}`]) {
    await page.goto(path, { waitUntil: "networkidle" });
    expect(loads, path).toBe(0);
  }
  await page.goto("/agents/new");
  await expect(editor(page, "System prompt")).toBeVisible();
  await expect.poll(() => loads).toBeGreaterThan(0);
});
