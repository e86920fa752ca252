import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/axe";
import { editor, expectText, fillEditor } from "../support/editor";
import { expect, test } from "../support/fixtures";

const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const view = (page: Page, name: "Form" | "YAML") => page.getByRole("button", { name, exact: true }).click();

test("a tool is made with the list of steps, without writing YAML", async ({ ownerPage: page }) => {
  const slug = `steps-${Date.now().toString(36)}${test.info().workerIndex}`;
  await page.goto("/tools/new?from=greeting");
  const steps = page.getByRole("list", { name: "Steps" });
  await steps.getByRole("button", { name: /^Name and input/ }).click();
  await field(page, "Name").fill("Price list");
  await expect(field(page, "Slug")).toHaveValue("price-list");
  await field(page, "Slug").fill(slug);

  await steps.getByRole("button", { name: /^greeting/ }).click();
  const addStep = page.getByRole("button", { name: "Add step" });
  await addStep.click();
  const catalog = page.getByRole("dialog", { name: "Add a step after greeting" });
  // A long list is not cut, neither before nor during a search. Escape leaves without a step.
  const ninth = catalog.getByRole("option").nth(8);
  await expect(ninth).toBeAttached();
  await catalog.getByLabel("Search functions and tools").fill("a");
  await expect(ninth).toBeAttached();
  await page.keyboard.press("Escape");
  await expect(catalog).toBeHidden();
  await expect(addStep).toBeFocused();
  await addStep.click();
  await catalog.getByLabel("Search functions and tools").fill("arithmetic");
  await expectAccessible(page, "the catalog of functions");
  await catalog.getByRole("option", { name: /^calculate/ }).click();
  await expect(catalog).toBeHidden();

  // The new step is selected, and its problems are at their fields.
  const problems = page.getByRole("region", { name: "Problems" });
  await expect(field(page, "Step id")).toHaveValue("calculate");
  await expect(field(page, "Step id")).toBeFocused();
  await field(page, "Step id").fill("price");
  const expression = editor(page, "expression");
  await fillEditor(expression, "{{ steps.nothing }} * 2");
  await expect(steps.getByRole("button", { name: /^price problem/ })).toBeVisible();
  await expect(expression).toHaveAccessibleDescription(/nothing/);
  await expectAccessible(page, "the form of a step");
  await fillEditor(expression, "6 * 7");
  await field(page, "Retries").fill("2");
  await field(page, "On error").selectOption("continue");
  await expect(problems).toContainText("No problems");
  await steps.getByRole("button", { name: /^Output/ }).click();
  await fillEditor(editor(page, "Output"), '{ "price": "{{ steps.price }}" }');

  await view(page, "YAML");
  const yaml = editor(page, "Definition as YAML");
  await expectText(yaml, /- id: price\n\s+uses: calculate/);
  await expectText(yaml, /retries: 2\n\s+onError: continue/);
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Price list" })).toBeVisible();
  await page.getByRole("textbox", { name: "city" }).fill("Oslo");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("region", { name: "Run Price list" }).getByText("Completed")).toBeVisible();
});

test("keys are taken while the catalog of functions still loads", async ({ ownerPage: page }) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/api/trpc/definitions.*", async (route) => {
    await released;
    await route.continue();
  });
  await page.goto("/tools/new?from=greeting");
  await page
    .getByRole("list", { name: "Steps" })
    .getByRole("button", { name: /^greeting/ })
    .click();
  await page.route("**/_next/**", async (route) => {
    await released;
    await route.continue();
  });
  await page.getByRole("button", { name: "Add step" }).click();
  await page.keyboard.type("arithm");
  const search = page.getByLabel("Search functions and tools");
  await expect(search).toHaveValue("arithm");
  release();
  await expect(page.getByRole("option", { name: /^calculate/ })).toBeVisible();
  await expect(search).toBeFocused();
  await page.keyboard.type("etic");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Step id", { exact: true })).toHaveValue("calculate");
});

test("a draft is tried as a whole and up to a step, without saving it", async ({
  ownerPage: page,
  organization,
}) => {
  await page.goto(`/tools/${organization.toolId}/edit`);
  await page
    .getByRole("list", { name: "Steps" })
    .getByRole("button", { name: /^doubled/ })
    .click();
  await fillEditor(editor(page, "expression"), "{{ input.number }} * 200");
  await page.getByRole("button", { name: "Add step" }).click();
  const catalog = page.getByRole("dialog", { name: "Add a step after doubled" });
  await expect(catalog.getByLabel("Search functions and tools")).toBeFocused();
  await page.keyboard.press("ArrowDown");
  const second = catalog.getByRole("option", { name: /^current_time/ });
  await expect(second).toHaveAttribute("data-highlighted", "");
  await page.keyboard.press("Enter");
  const panel = page.getByRole("region", { name: "Try the draft" });
  await panel.getByLabel("number").fill("3");
  await panel.getByRole("button", { name: "Run all steps" }).click();
  const results = panel.getByRole("list", { name: "Results of the steps" });
  await expect(results.getByRole("listitem")).toHaveCount(2);
  await results.getByText("doubled").click();
  await expect(results).toContainText("600");
  await expectAccessible(page, "a tried draft");

  await page
    .getByRole("list", { name: "Steps" })
    .getByRole("button", { name: /^doubled/ })
    .click();
  await panel.getByRole("button", { name: "Run up to doubled" }).click();
  await expect(results.getByRole("listitem")).toHaveCount(1);
  await expect(panel.getByText("Completed")).toBeVisible();
  await panel.getByRole("link", { name: "Open run" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Double (draft)" })).toBeVisible();
});

test("steps are moved and removed with undo, and comments of the YAML stay", async ({ ownerPage: page }) => {
  await page.goto("/tools/new?from=greeting");
  const steps = page.getByRole("list", { name: "Steps" });
  const cards = steps.getByRole("button", { name: /^(?!Insert)/ });
  const yaml = editor(page, "Definition as YAML");
  await view(page, "YAML");
  await fillEditor(
    yaml,
    `slug: commented # its name
name: Commented
steps:
  # The first call.
  - id: one
    uses: current_time
  - id: two # counts
    uses: calculate
    with: { expression: 1 + 1 }
`,
  );
  // The list follows the YAML, and the form writes to it.
  await steps.getByRole("button", { name: /^two/ }).click();
  await expectText(editor(page, "expression"), "1 + 1");
  await page.getByRole("button", { name: "Move two up" }).click();
  await expect(cards).toHaveText([/^Name and input/, /^two/, /^one/, /^Output/]);
  await expect(page.getByRole("button", { name: "Move two up" })).toBeDisabled();
  await expect(page.getByRole("button", { name: "Move two down" })).toBeFocused();
  await page.getByRole("button", { name: "Remove two" }).click();
  await expect(cards).toHaveText([/^Name and input/, /^one/, /^Output/]);
  await expect(steps.getByRole("button", { name: /^Name and input/ })).toBeFocused();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(steps.getByRole("button", { name: /^two/ })).toBeFocused();
  await expect(cards).toHaveText([/^Name and input/, /^two/, /^one/, /^Output/]);
  await view(page, "YAML");
  for (const comment of ["# its name", "# The first call.", "# counts"]) {
    await expectText(yaml, new RegExp(comment));
  }

  await fillEditor(yaml, "slug: [");
  await expect(page.getByText("The YAML has a syntax error. Correct it to see the steps.")).toBeVisible();
  const problems = page.getByRole("region", { name: "Problems" });
  await expect(problems.getByRole("button", { name: /^Line \d/ }).first()).toBeVisible();
  await view(page, "Form");
  await expect(problems).not.toContainText(/Line \d/);
  await page.getByRole("button", { name: "Correct the YAML" }).click();
  await expect(yaml).toBeFocused();
  await view(page, "Form");
  await problems.getByRole("button", { name: "Show it in the YAML" }).first().click();
  await expect(yaml).toBeFocused();
});

test("steps are moved with keys and by dragging, and run beside others", async ({ ownerPage: page }) => {
  await page.goto("/tools/new?from=greeting");
  await view(page, "YAML");
  const yaml = editor(page, "Definition as YAML");
  await fillEditor(
    yaml,
    `slug: moved
name: Moved
steps:
  - id: one
    uses: current_time
  - id: two
    uses: calculate
    with: { expression: 1 + 1 }
  - id: three
    uses: current_time
`,
  );
  await view(page, "Form");
  const steps = page.getByRole("list", { name: "Steps" });
  const card = (name: RegExp) => steps.getByRole("button", { name });
  const expectOrder = (...names: RegExp[]) =>
    expect(card(/^(?!Insert)/)).toHaveText([/^Name and input/, ...names, /^Output/]);
  await card(/^one/).focus();
  await page.keyboard.press("Alt+ArrowDown");
  await expectOrder(/^two/, /^one/, /^three/);
  await expect(card(/^one/)).toBeFocused();
  await page.keyboard.press("Alt+ArrowUp");
  await page.keyboard.press("Alt+ArrowUp");
  await expectOrder(/^one/, /^two/, /^three/);
  await page.locator("[data-drag=three]").dragTo(card(/^one/));
  await expectOrder(/^three/, /^one/, /^two/);
  await page.locator("[data-drag=three]").dragTo(card(/^two/));
  await expectOrder(/^one/, /^two/, /^three/);

  await card(/^two/).click();
  await page.getByRole("button", { name: "Add a step beside two" }).click();
  const catalog = page.getByRole("dialog", { name: "Add a step beside two" });
  await catalog.getByLabel("Search functions and tools").fill("current_time");
  await page.keyboard.press("Enter");
  await expectOrder(/^one/, /^group2 steps in parallel/, /^three/);
  const added = page.getByRole("group", { name: "Step current_time" });
  await expect(added.getByLabel("Step id")).toBeFocused();
  await added.getByLabel("Step id").fill("now");
  await page.getByRole("group", { name: "Step two" }).getByLabel("Function").selectOption("wait");
  await view(page, "YAML");
  await expectText(
    yaml,
    /- id: group\s+parallel:\s+- id: two\s+uses: wait[\s\S]*- id: now\s+uses: current_time/,
  );
  await view(page, "Form");
  await page.getByRole("group", { name: "Step two" }).getByLabel("Function").selectOption("current_time");
  await expect(page.getByRole("region", { name: "Problems" })).toContainText("No problems");
  await expectAccessible(page, "a group of steps");
});

test("a step is inserted between two, and problems are repaired from their list", async ({
  ownerPage: page,
}) => {
  await page.goto("/tools/new?from=greeting");
  await view(page, "YAML");
  await fillEditor(
    editor(page, "Definition as YAML"),
    `slug: repaired
name: Repaired
steps:
  - id: orders
    uses: calculate
    with: { expression: 1 + 1 }
  - id: late
    uses: calculate
    if: "{{ steps.order > 1 }}"
    with: { expression: 2 + 2, value: 1 }
`,
  );
  const steps = page.getByRole("list", { name: "Steps" });
  await expect(steps.getByRole("listitem").filter({ hasText: "Only if" })).toContainText(
    "Only ifsteps.order > 1",
  );
  const problems = page.getByRole("region", { name: "Problems" });
  // The same link is below the field.
  await view(page, "Form");
  await steps.getByRole("button", { name: /^late/ }).click();
  await expect(problems.getByRole("button", { name: "Use orders (late, Only if)" })).toBeVisible();
  await page
    .getByRole("region", { name: "Step late" })
    .getByRole("button", { name: "Use orders (late, Only if)" })
    .click();
  await problems.getByRole("button", { name: "Remove (late, value)" }).click();
  await expect(problems).toContainText("No problems");
  await view(page, "YAML");
  await expectText(editor(page, "Definition as YAML"), /if: "\{\{ steps\.orders > 1 \}\}"/);

  await steps.getByRole("button", { name: "Insert a step after orders" }).click();
  const catalog = page.getByRole("dialog", { name: "Add a step after orders" });
  await catalog.getByLabel("Search functions and tools").fill("current_time");
  await page.keyboard.press("Enter");
  await expect(field(page, "Step id")).toBeFocused();
  await expect(steps.getByRole("button", { name: /^(?!Insert)/ })).toHaveText([
    /^Name and input/,
    /^orders/,
    /^current_time/,
    /^late/,
    /^Output/,
  ]);
  await expectAccessible(page, "a list of steps with a condition");
});

test("a step's values are offered: agents by name, inputs, earlier steps and secrets", async ({
  ownerPage: page,
}) => {
  const secret = `crm_${Date.now().toString(36)}${test.info().workerIndex}`;
  const created = await page.request.post("/api/trpc/secrets.create", {
    headers: { "sec-fetch-site": "same-origin" },
    data: { name: secret, value: "a value that nobody reads", hosts: ["crm.test"] },
  });
  expect(created.status(), await created.text()).toBe(200);
  await page.goto("/tools/new?from=greeting");
  const add = async (name: string) => {
    await page.getByRole("button", { name: "Add step" }).click();
    await page.getByLabel("Search functions and tools").fill(name);
    await page.keyboard.press("Enter");
    await expect(field(page, "Step id")).toHaveValue(name);
  };
  const insert = async (label: string, name: string) => {
    await page.getByRole("button", { name: `Insert into ${label}` }).click();
    await page.getByRole("menuitem", { name, exact: true }).click();
  };
  await page
    .getByRole("list", { name: "Steps" })
    .getByRole("button", { name: /^greeting/ })
    .click();
  await add("run_agent");
  const offered = page.locator(`datalist[id="${await field(page, "agent").getAttribute("list")}"] option`);
  await expect(offered.and(page.locator("[value=helper]"))).toHaveAttribute("label", "Helper");

  await add("http_request");
  const url = editor(page, "url");
  await fillEditor(url, "https://crm.test/?city=");
  await insert("url", "input.city");
  await expectText(url, "https://crm.test/?city={{ input.city }}");
  await expect(url).toBeFocused();
  await page.getByText(/^More inputs/).click();
  await page.getByRole("button", { name: "Insert into headers" }).click();
  await expect(page.getByRole("menuitem", { name: "steps.run_agent" })).toBeVisible();
  await expectAccessible(page, "the menu of what can be inserted");
  await page.keyboard.press("Escape");
  await insert("headers", `secrets.${secret}`);
  await expect(field(page, "Name 1 of headers")).toHaveValue("authorization");
  await expectText(editor(page, "Value 1 of headers"), `Bearer {{ secrets.${secret} }}`);
  await expect(page.getByRole("region", { name: "Problems" })).not.toContainText("secret");
});

test("a conflict of two windows is shown above the form, not as a problem of the tool", async ({
  ownerPage: page,
}) => {
  const slug = `conflict-${Date.now().toString(36)}${test.info().workerIndex}`;
  await page.goto("/tools/new?from=greeting");
  await field(page, "Slug").fill(slug);
  await page.getByRole("button", { name: "Create tool" }).click();
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await field(page, "Retries").fill("2");
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole("button", { name: "Discard" }).click();
  await field(other, "Retries").fill("3");
  await other.getByRole("button", { name: "Save", exact: true }).click();
  await expect(other.getByRole("heading", { level: 1, name: "Greeting" })).toBeVisible();
  await other.close();

  await page.getByRole("button", { name: "Save", exact: true }).click();
  const conflict = page.getByRole("region", { name: "Differences from version 2" });
  await expect(conflict).toContainText("retries: 3");
  await expect(conflict.getByRole("heading", { name: /^Version 2 was saved/ })).toBeInViewport();
  await expect(page.getByRole("region", { name: "Problems" })).toContainText("No problems");
  await expect(field(page, "Retries")).toHaveValue("2");
  await conflict.getByRole("button", { name: "Keep my draft" }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("table", { name: "Versions" })).toContainText("v3");
});
