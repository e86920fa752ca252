import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/axe";
import { editor, expectText, fillEditor } from "../support/editor";
import { expect, test } from "../support/fixtures";

const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const problems = (page: Page) => page.getByRole("region", { name: "Problems" });
const yaml = (page: Page) => editor(page, "Definition as YAML");
const view = (page: Page, name: "Form" | "YAML") => page.getByRole("button", { name, exact: true }).click();
const step = (page: Page, name: RegExp) =>
  page.getByRole("list", { name: "Steps" }).getByRole("button", { name }).click();

const TOOL = `slug: orders
name: Orders
parameters: { type: object, properties: { since: { type: string } } }
steps:
  - id: fetched
    uses: http_request
    with:
      url: https://shop.test/orders
  - id: late
    uses: transform_json
    if: steps.fetched.status = 200
    with:
      value: "{{ steps.fetched.body }}"
      expression: $count(orders)
output:
  status: "{{ steps.fetched.status }} of 'steps.fetched'"
`;

async function open(page: Page, text = TOOL): Promise<void> {
  await page.goto("/tools/new");
  await view(page, "YAML");
  await fillEditor(yaml(page), text);
  await view(page, "Form");
}

test("a reference inserted into a new step's value is the value", async ({ ownerPage: page }) => {
  await open(page);
  await step(page, /^late/);
  await page.getByRole("button", { name: "Add step" }).click();
  await page.getByLabel("Search functions and tools").fill("transform_json");
  await page.keyboard.press("Enter");
  await expect(field(page, "Step id")).toHaveValue("transform_json");
  await page.getByRole("button", { name: "Insert into value" }).click();
  await page.getByRole("menuitem", { name: "steps.late", exact: true }).click();
  await expectText(editor(page, "value"), "{{ steps.late }}");
  await view(page, "YAML");
  await expectText(yaml(page), /value: "\{\{ steps\.late \}\}"/);
  await view(page, "Form");
  await fillEditor(editor(page, "value"), '{{ steps.late }}""');
  await expect(editor(page, "value")).toHaveAccessibleDescription(/not valid JSON/);
});

test("a step's other function sets inputs aside, with undo", async ({ ownerPage: page }) => {
  await open(page);
  await step(page, /^late/);
  const uses = field(page, "Function");
  await uses.selectOption("http_request");
  const form = page.getByRole("region", { name: "Input", exact: true });
  await expect(form).toContainText("2 inputs set aside");
  await expectAccessible(page, "inputs that were set aside");
  await expect(problems(page)).toContainText("url is required by http_request.");
  await expect(problems(page)).not.toContainText("expression");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(uses).toHaveValue("transform_json");
  await expectText(editor(page, "expression"), "$count(orders)");
  await expect(problems(page)).toContainText("No problems");
  await view(page, "YAML");
  await expectText(yaml(page), TOOL);
  await view(page, "Form");
  // They come back with a function that takes them.
  await uses.selectOption("current_time");
  await uses.selectOption("transform_json");
  await expectText(editor(page, "value"), "{{ steps.fetched.body }}");
  await expect(form).not.toContainText("set aside");
  // The undo history is gone with the editor.
  await uses.selectOption("http_request");
  const undo = page.getByRole("button", { name: "Undo" });
  await expect(undo.first()).toBeVisible();
  await page
    .getByRole("complementary", { name: "Sidebar" })
    .getByRole("link", { name: "Tools", exact: true })
    .click();
  await expect(page.getByRole("heading", { level: 1, name: "Tools" })).toBeVisible();
  await expect(undo).toHaveCount(0);
});

test("what refers to a step is renamed with it", async ({ ownerPage: page }) => {
  await open(page);
  await step(page, /^fetched/);
  await field(page, "Step id").fill("orders");
  await expect(field(page, "Step id")).toHaveAccessibleDescription(/3 references updated/);
  await expect(problems(page)).toContainText("No problems");
  await view(page, "YAML");
  await expectText(yaml(page), /if: steps\.orders\.status = 200/);
  await expectText(yaml(page), /value: "\{\{ steps\.orders\.body \}\}"/);
  await expectText(yaml(page), /\{\{ steps\.orders\.status \}\} of 'steps\.fetched'/);
});

test("a problem is a sentence that leads to its field", async ({ ownerPage: page }) => {
  await open(page, TOOL.replace("https://shop.test/orders", '"{{ steps.none }}"'));
  await expect(problems(page)).toContainText('There is no step "none". Steps before this one: none.');
  await expect(problems(page)).not.toContainText("Line");
  await problems(page).getByRole("button", { name: "fetched, url" }).click();
  await expect(editor(page, "url")).toBeFocused();
  await expect(editor(page, "url")).toHaveAccessibleDescription(/There is no step "none"/);
  // Also if the step is shown already.
  await field(page, "Step id").focus();
  await problems(page).getByRole("button", { name: "fetched, url" }).click();
  await expect(editor(page, "url")).toBeFocused();
});

test("headers and the query are rows of names and values", async ({ ownerPage: page }) => {
  await open(page);
  await step(page, /^fetched/);
  await page.getByText(/^More inputs/).click();
  await field(page, "Name 1 of query").fill("status");
  await fillEditor(editor(page, "Value 1 of query"), "open");
  await field(page, "Name 2 of query").fill("status");
  await fillEditor(editor(page, "Value 2 of query"), "{{ input.since }}");
  await field(page, "Name 1 of headers").fill("accept");
  await field(page, "Name 2 of headers").fill("Accept");
  await expect(page.getByText("“accept” is given twice. The first one is used.")).toBeVisible();
  await page.getByRole("button", { name: "Remove Accept from headers", exact: true }).click();
  await fillEditor(editor(page, "Value 1 of headers"), "application/json");
  await expectAccessible(page, "rows of names and values");
  await view(page, "YAML");
  await expectText(yaml(page), /query:\s+status:\s+- open\s+- "\{\{ input\.since \}\}"/);
  await expectText(yaml(page), /headers:\s+accept: "?application\/json/);
});

test("a method is chosen from a list, or written as an expression", async ({ ownerPage: page }) => {
  await open(page);
  await step(page, /^fetched/);
  await page.getByText(/^More inputs/).click();
  const method = field(page, "method");
  await method.selectOption("HEAD");
  await view(page, "YAML");
  await expectText(yaml(page), /method: HEAD/);
  await view(page, "Form");
  await expect(method.locator("option:checked")).toHaveText("HEAD");
  await method.selectOption("Write an expression");
  await expect(method).toBeFocused();
  await method.fill("{{ input.since }}");
  await view(page, "YAML");
  await expectText(yaml(page), /method: "\{\{ input\.since \}\}"/);
  await view(page, "Form");
  await expect(method).toHaveValue("{{ input.since }}");
  await page.getByRole("button", { name: "Choose a value" }).click();
  await expect(method.locator("option:checked")).toHaveText("Not set");
  await view(page, "YAML");
  await expect(yaml(page)).not.toContainText("method");
});

test("beside an editor, the navigation is folded to icons with names", async ({ ownerPage: page }) => {
  const sidebar = page.getByRole("complementary", { name: "Sidebar" });
  const widthOf = async () => (await sidebar.boundingBox())?.width;
  await page.goto("/tools/new");
  expect(await widthOf()).toBe(56);
  await expectAccessible(page, "a folded navigation");
  await sidebar.getByRole("link", { name: "Tools" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Tools" })).toBeVisible();
  expect(await widthOf()).toBe(216);
});

test("a new tool is empty, or begins as a template", async ({ ownerPage: page }) => {
  await page.goto("/tools/new");
  await expect(field(page, "Name")).toHaveValue("");
  await expect(problems(page)).toContainText("No problems");
  await expectAccessible(page, "an empty tool");
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(problems(page).getByRole("button", { name: "Steps" })).toBeVisible();
  await page.getByRole("link", { name: /^Look up orders/ }).click();
  await expect(field(page, "Name")).toHaveValue("Look up orders");
  await expect(problems(page)).toContainText("No problems");
  await field(page, "Name").fill("Open orders");
  await expect(field(page, "Slug")).toHaveValue("open-orders");
});

test("saving an empty tool leads to its form, also while it is being checked", async ({
  ownerPage: page,
}) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/api/trpc/definitions.checkTool*", async (route) => {
    await released;
    await route.continue();
  });
  await page.goto("/tools/new");
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(problems(page)).toContainText("Name must not be empty.");
  await expect(problems(page).getByRole("button", { name: "Slug" })).toBeVisible();
  await expect(problems(page)).not.toContainText("Line");
  release();
  await expect(field(page, "Slug")).toBeFocused();
  await expect(problems(page)).not.toContainText("Line");
});

test("a step is run alone with the outputs of the last run, whose fields are offered", async ({
  ownerPage: page,
}) => {
  const slug = `alone-${Date.now().toString(36)}${test.info().workerIndex}`;
  const steps = `steps:
  - id: now
    uses: current_time
  - id: doubled
    uses: calculate
    with: { expression: "{{ input.number }} * 2" }
  - id: told
    uses: transform_json
    with: { value: "{{ steps.now }}", expression: $ }
`;
  await open(page, `slug: ${slug}\nname: Alone\nparameters: { properties: { number: {} } }\n${steps}`);
  const panel = page.getByRole("region", { name: "Try the draft" });
  await panel.getByLabel("number").fill("3");
  await panel.getByRole("button", { name: "Create and run", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Edit tool" })).toBeVisible();
  await expect(panel.getByText("Completed")).toBeVisible();
  await step(page, /^told/);
  await page.getByRole("button", { name: "Insert into value" }).click();
  await expect(page.getByRole("menuitem", { name: /^steps\.now\.iso\s*"\d{4}-/ })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: /^steps\.doubled\s*6$/ })).toBeVisible();
  await expectAccessible(page, "the fields of the last outputs");
  await page.keyboard.press("Escape");
  await fillEditor(editor(page, "value"), "{{ steps.doubled }}");
  await panel.getByRole("button", { name: "Run only told" }).click();
  const results = panel.getByRole("list", { name: "Results of the steps" });
  await expect(results.getByRole("listitem")).toHaveCount(1);
  await expect(panel.getByText("Completed")).toBeVisible();
  await results.getByText("told").click();
  await expect(results).toContainText("6");
});

test("a pinned output replaces its step's call until it is unpinned, and a condition shows its last value", async ({
  ownerPage: page,
}) => {
  const slug = `pinned-${Date.now().toString(36)}${test.info().workerIndex}`;
  const steps = `steps:
  - id: now
    uses: current_time
  - id: doubled
    uses: calculate
    with: { expression: "{{ input.number }} * 2" }
  - id: told
    if: steps.doubled > 5
    uses: transform_json
    with: { value: "{{ steps.doubled }}", expression: $ }
`;
  await open(page, `slug: ${slug}\nname: Pinned\nparameters: { properties: { number: {} } }\n${steps}`);
  const panel = page.getByRole("region", { name: "Try the draft" });
  const results = panel.getByRole("list", { name: "Results of the steps" });
  const pinned = panel.getByRole("region", { name: "Pinned outputs" });
  const told = page.getByRole("list", { name: "Steps" }).getByRole("listitem").filter({ hasText: "Only if" });
  const runAll = async (number: string) => {
    await panel.getByLabel("number").fill(number);
    await panel.getByRole("button", { name: "Run all steps" }).click();
  };
  await panel.getByLabel("number").fill("3");
  await panel.getByRole("button", { name: "Create and run", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Edit tool" })).toBeVisible();
  await step(page, /^told/);
  await expect(page.getByText("In the last run: true; steps.doubled is 6.")).toBeVisible();
  await expect(told).toContainText(/steps\.doubled > 5\s*true/);

  await results.getByRole("button", { name: "Pin the output of doubled" }).click();
  await expect(pinned).toContainText("doubled");
  await expect(
    page.getByRole("list", { name: "Steps" }).getByRole("button", { name: /^doubled\s*pinned/ }),
  ).toBeVisible();
  await expectAccessible(page, "a pinned output");
  await fillEditor(editor(page, "expression"), "$ + 1");
  await runAll("10");
  await expect(results.getByRole("listitem")).toHaveCount(2);
  await expect(panel).toContainText("Outputs used, pinned: doubled.");
  await results.getByText("told").click();
  await expect(results).toContainText("7");

  // An id that passes through another step's id in typing leaves that step its pin.
  for (const typed of ["doubled", "doubled_more", "told"]) await field(page, "Step id").fill(typed);
  await expect(pinned.getByRole("button")).toHaveAccessibleName("Unpin the output of doubled");

  // The run, its outputs and the pins follow a renamed step.
  await step(page, /^now/);
  await field(page, "Step id").fill("today");
  await expect(results.getByText("today")).toBeVisible();
  await expect(panel.getByText("now", { exact: true })).toHaveCount(0);
  await results.getByRole("button", { name: "Pin the output of today" }).click();
  await expect(pinned).toContainText("today");
  await field(page, "Step id").fill("now");
  await expect(pinned).toContainText("now");
  await pinned.getByRole("button", { name: "Unpin the output of now" }).click();

  await page.reload();
  await expect(pinned).toContainText("doubled");
  await step(page, /^told/);
  await expect(panel).toContainText("Outputs used, pinned: doubled; from the last run: now.");
  await panel.getByRole("button", { name: "Run only told" }).click();
  await expect(results.getByRole("listitem")).toHaveCount(1);
  await results.getByText("told").click();
  await expect(results).toContainText("7");

  await pinned.getByRole("button", { name: "Unpin the output of doubled" }).click();
  await expect(pinned).toHaveCount(0);
  await runAll("2");
  await expect(
    page.getByText("In the last run: false, so the step was skipped; steps.doubled is 4."),
  ).toBeVisible();
  await expect(told).toContainText(/steps\.doubled > 5\s*false/);
  await fillEditor(editor(page, "Only if"), "steps.doubled > 3");
  await expect(page.getByText(/^In the last run/)).toHaveCount(0);
});
