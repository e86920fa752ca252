import type { Page } from "@playwright/test";
import { expectAccessible } from "@/e2e/support/axe";
import { copyOf, editor, expectText, fillEditor } from "@/e2e/support/editor";
import { expect, test } from "@/e2e/support/fixtures";

const unique = () => `${Date.now().toString(36)}${test.info().workerIndex}`;
const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const parameters = (page: Page) => page.getByRole("group", { name: "Parameters", exact: true });

async function openNewTool(page: Page): Promise<void> {
  await page.goto("/tools/new?from=greeting");
  await page
    .getByRole("list", { name: "Steps" })
    .getByRole("button", { name: /^Name and input/ })
    .click();
}

test("a new tool's parameters are made as fields, and it is created and run in one step", async ({
  ownerPage: page,
}) => {
  const slug = `fields-${unique()}`;
  await openNewTool(page);
  await field(page, "Slug").fill(slug);
  await field(page, "Name of city").fill("town");
  await expect(field(page, "Name of town")).toBeFocused();
  await field(page, "Default of town").fill("Oslo");

  await page.getByRole("button", { name: "Add parameter" }).click();
  await expect(field(page, "Name of parameter 2")).toBeFocused();
  await expect(page.getByText("Without a name it is not saved.")).toBeVisible();
  await page.keyboard.type("town");
  await expect(page.getByText("Another one is named town.")).toBeVisible();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("unit");
  await field(page, "Type of unit").selectOption("One of");
  await field(page, "Values of unit").fill("metric\nimperial");
  await field(page, "Default of unit").selectOption("metric");

  await page.getByRole("button", { name: "Add parameter" }).click();
  await page.keyboard.type("stops");
  await field(page, "Type of stops").selectOption("List");
  await field(page, "Type of each item of stops").selectOption("Object");
  await page.getByRole("button", { name: "Add field to each item of stops" }).click();
  await page.keyboard.type("minutes");
  await field(page, "Type of minutes").selectOption("Whole number");
  await page.getByRole("group", { name: "minutes" }).getByLabel("Required").check();
  await expectAccessible(page, "parameters as fields");

  await parameters(page).getByRole("button", { name: "JSON Schema" }).click();
  const text = editor(page, "Parameters");
  expect(JSON.parse(await copyOf(text))).toEqual({
    type: "object",
    properties: {
      town: { type: "string", description: "A city, such as Oslo", default: "Oslo" },
      unit: { type: "string", enum: ["metric", "imperial"], default: "metric" },
      stops: {
        type: "array",
        items: { type: "object", properties: { minutes: { type: "integer" } }, required: ["minutes"] },
      },
    },
    required: ["town"],
  });
  await page
    .getByRole("list", { name: "Steps" })
    .getByRole("button", { name: /^greeting/ })
    .click();
  await fillEditor(editor(page, "expression"), '"Hello " & town');

  const panel = page.getByRole("region", { name: "Try the draft" });
  await expect(panel.getByRole("textbox", { name: "town" })).toHaveValue("Oslo");
  await expect(panel.getByLabel("unit")).toHaveValue("metric");
  await panel.getByRole("textbox", { name: "town" }).fill("Bergen");
  await panel.getByRole("button", { name: "Create and run", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Edit tool" })).toBeVisible();
  const results = panel.getByRole("list", { name: "Results of the steps" });
  await results.getByText("greeting").click();
  await expect(results).toContainText("Hello Bergen");
  await expect(panel.getByRole("textbox", { name: "town" })).toHaveValue("Bergen");
  await expect(panel.getByText("Completed")).toBeVisible();
  await expect(page.getByText("No changes")).toBeVisible();
  await expectAccessible(page, "a tool that was created and run");
});

test("the text of a schema and its fields are the same; a schema that fields cannot show has a reason", async ({
  ownerPage: page,
}) => {
  await openNewTool(page);
  const views = parameters(page);
  await views.getByRole("button", { name: "JSON Schema" }).click();
  const text = editor(page, "Parameters");
  const schemaOf = (properties: object) => JSON.stringify({ type: "object", properties });
  await fillEditor(text, schemaOf({ days: { type: "integer", maximum: 9, default: 3 } }));
  await views.getByRole("button", { name: "Fields" }).click();
  await expect(field(page, "Default of days")).toHaveValue("3");
  await expect(views).toContainText("Also: maximum 9");
  await page.getByRole("button", { name: "Remove days" }).click();
  await expect(page.getByRole("button", { name: "Add parameter" })).toBeFocused();
  await page.getByRole("button", { name: "Undo" }).click();
  const preset = field(page, "Default of days");
  await expect(preset).toHaveValue("3");
  await preset.fill("12345678901234567890");
  await expect(preset).toHaveValue("12345678901234567890");

  await page.getByRole("button", { name: "Add parameter" }).click();
  await page.keyboard.type("town");
  const up = page.getByRole("button", { name: "Move town up" });
  await up.press("Enter");
  await expect(up).toBeDisabled();
  // The focus moves with the field.
  await expect(page.getByRole("button", { name: "Move town down" })).toBeFocused();
  await expect(views.getByRole("textbox", { name: /^Name of/ }).first()).toHaveValue("town");
  await views.getByRole("button", { name: "JSON Schema" }).click();
  await expectText(text, /"town"[\s\S]*"days"[\s\S]*12345678901234567890/);

  const units = (...values: string[]) =>
    JSON.stringify({ type: "object", properties: { unit: { enum: values } }, required: ["unit"] });
  const unit = page.getByRole("region", { name: "Try the draft" }).getByLabel("unit");
  await fillEditor(text, units("metric", "imperial"));
  await unit.selectOption("imperial");
  await fillEditor(text, units("celsius", "kelvin"));
  // The input has a value that is no choice anymore.
  await expect(unit.locator("option:checked")).toHaveText("imperial");
  await unit.selectOption("kelvin");
  await expect(unit.locator("option")).toHaveText(["celsius", "kelvin"]);

  await fillEditor(text, schemaOf({ price: { anyOf: [{ type: "number" }, { type: "string" }] } }));
  await expect(text).toHaveAccessibleDescription('"price" uses anyOf. It is edited as JSON Schema.');
  await expect(views.getByRole("button", { name: "Fields" })).toBeDisabled();
  await expectAccessible(page, "a schema that is edited as text");
});

test("a new agent with an answer made of fields is created and run in one step", async ({
  ownerPage: page,
}) => {
  const name = `Fields ${unique()}`;
  await page.goto("/agents/new");
  await field(page, "Name").fill(name);
  await field(page, "Model").selectOption("demo");
  await page.getByRole("button", { name: "Add field" }).click();
  await page.keyboard.type("cost");
  await field(page, "Type of cost").selectOption("Number");
  const panel = page.getByRole("region", { name: "Try the draft" });
  await panel.getByLabel("Message").fill("What is 17 * 23?");
  await expectAccessible(page, "a new agent with an output schema");
  await panel.getByLabel("Message").press("ControlOrMeta+Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Edit agent" })).toBeVisible();
  await expect(panel.getByText("Completed")).toBeVisible();
  await expect(panel.getByLabel("Message")).toHaveValue("What is 17 * 23?");
  await expect(panel.getByText("cost", { exact: true })).toBeVisible();
});

test("an item that was created but could not be run shows why", async ({ ownerPage: page }) => {
  await openNewTool(page);
  await field(page, "Slug").fill(`unrun-${unique()}`);
  // The call may share its request with a check of the YAML.
  await page.route("**/api/trpc/*runs.start*", (route) => route.abort());
  const panel = page.getByRole("region", { name: "Try the draft" });
  await panel.getByRole("textbox", { name: "city" }).fill("Oslo");
  await panel.getByRole("button", { name: "Create and run", exact: true }).click();
  await expect(page.getByText("Could not start the first run")).toBeVisible();
  await expect(page.getByRole("heading", { level: 1, name: "Edit tool" })).toBeVisible();
});
