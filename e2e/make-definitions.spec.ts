import { expect, test } from "./fixtures";

/** Agents and tools are made, edited and run on their pages. */

test("an agent is made, run and edited; its draft survives a reload", async ({ ownerPage: page }) => {
  const name = `Desk ${Date.now()}`;
  await page.goto("/agents");
  await page.getByRole("link", { name: "New agent" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "New agent" })).toBeVisible();
  const field = (label: string) => page.getByLabel(label, { exact: true });

  // Problems stand at their fields.
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByText("3 problems")).toBeVisible();
  await expect(field("Name")).toHaveAccessibleDescription("must not be empty");

  await field("Name").fill(name);
  await expect(field("Slug")).toHaveValue(name.toLowerCase().replace(" ", "-"));
  await field("Model").fill("demo");
  await page.getByRole("checkbox", { name: /^calculate/ }).check();
  await page.reload();
  await expect(page.getByText("Draft from your last visit")).toBeVisible();
  await expect(field("Name")).toHaveValue(name);
  await page.keyboard.press("ControlOrMeta+s");

  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  await field("Message").fill("What do 12 apples at 0.80 cost?");
  await page.keyboard.press("ControlOrMeta+Enter");
  const outcome = page.getByRole("region", { name: `Run ${name}` });
  await expect(outcome.getByText("Completed")).toBeVisible();
  await expect(page.getByRole("region", { name: "Recent runs" }).getByText("12 apples")).toBeVisible();

  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await field("System prompt").fill("Answer in one word.");
  // Somebody else saves it meanwhile.
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByLabel("Max steps", { exact: true }).fill("3");
  await other.getByRole("button", { name: "Save", exact: true }).click();
  await expect(other.getByRole("heading", { level: 1, name })).toBeVisible();
  await other.close();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText(/Version 2 of this agent was saved since you opened version 1/)).toBeVisible();
  await expect(field("System prompt")).toHaveValue("Answer in one word.");
});

test("a tool is made from YAML whose problems are named with their lines, and run by its form", async ({
  ownerPage: page,
}) => {
  const slug = `tool-${Date.now()}`;
  await page.goto("/tools/new");
  const yaml = page.getByLabel("Definition as YAML");
  const begin = (await yaml.inputValue()).replace("slug: my-tool", `slug: ${slug}`);
  await yaml.fill(begin.replace("transform_json", "transform_jsn"));
  const problems = page.getByRole("region", { name: "Problems" });
  await expect(problems).toContainText('there is no function named "transform_jsn"');
  await problems.getByRole("button", { name: "Line 11" }).click();
  await expect(yaml).toBeFocused();
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(page.getByText("1 problem", { exact: true })).toBeVisible();
  await yaml.fill(begin);
  await expect(problems).toContainText("No problems");
  await page.getByRole("button", { name: "Create tool" }).click();

  await expect(page.getByRole("heading", { level: 1, name: "My tool" })).toBeVisible();
  await page.getByRole("textbox", { name: "city" }).fill("Oslo");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const panel = page.getByRole("region", { name: "Run My tool" });
  await expect(panel.getByText("Hello Oslo")).toBeVisible();
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  await page.getByLabel("Input as JSON").fill('{"city": 5}');
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(panel.getByText("/city")).toBeVisible();
});

test("a viewer is told why nothing can be run, and is offered no editor", async ({
  viewerPage: page,
  organization,
}) => {
  await page.goto(`/agents/${organization.agentId}`);
  await expect(page.getByText("Starting one needs the role member.")).toBeVisible();
  await expect(page.getByRole("link", { name: "Edit", exact: true })).toHaveCount(0);
  await page.goto("/agents");
  await expect(page.getByRole("heading", { level: 1, name: "Agents" })).toBeVisible();
  await expect(page.getByRole("link", { name: "New agent" })).toHaveCount(0);
});
