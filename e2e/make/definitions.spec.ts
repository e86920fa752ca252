import type { Page, Route } from "@playwright/test";
import { expectAccessible } from "@/e2e/support/axe";
import { editor, expectText, fillEditor, textOf } from "@/e2e/support/editor";
import { expect, test } from "@/e2e/support/fixtures";

const unique = () => `${Date.now().toString(36)}${test.info().workerIndex}`;
const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true });

test("an agent is made and run; its draft survives a reload", async ({ ownerPage: page }) => {
  const name = `Desk ${unique()}`;
  await page.goto("/agents");
  await page.getByRole("link", { name: "New agent" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "New agent" })).toBeVisible();

  // Problems are shown at their fields.
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByText("2 problems")).toBeVisible();
  await expect(field(page, "Name")).toHaveAccessibleDescription("Name must not be empty.");

  await field(page, "Name").fill(name);
  await expect(field(page, "Slug")).toHaveValue(name.toLowerCase().replace(" ", "-"));
  await field(page, "Model").selectOption("Another model");
  await expect(field(page, "Model name")).toHaveValue("");
  await field(page, "Model").selectOption("demo");
  await expect(field(page, "Model")).toHaveAccessibleDescription("The built-in simulation, which is free.");
  await page.getByRole("checkbox", { name: /^calculate/ }).check();
  await page.reload();
  await expect(page.getByText("Draft from your last visit")).toBeVisible();
  await expect(field(page, "Name")).toHaveValue(name);
  await expectAccessible(page, "the editor of an agent");
  await page.keyboard.press("ControlOrMeta+s");

  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  await field(page, "Message").fill("What do 12 apples at 0.80 cost?");
  await page.keyboard.press("ControlOrMeta+Enter");
  const outcome = page.getByRole("region", { name: `Run ${name}` });
  await expect(outcome.getByText("Completed")).toBeVisible();
  await expect(page.getByRole("region", { name: "Recent runs" }).getByText("12 apples")).toBeVisible();
  await page.goto("/agents/new");
  await expect(page.getByText("No changes")).toBeVisible();
});

test("an agent's draft is tried beside its form, and compared with the saved version", async ({
  ownerPage: page,
}) => {
  const name = `Desk ${unique()}`;
  await page.goto("/agents/new");
  await createAgent(page, name);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await field(page, "Max steps").fill("13");
  const panel = page.getByRole("region", { name: "Try the draft" });
  await panel.getByRole("button", { name: "Run draft" }).click();
  await expect(panel.getByLabel("Message")).toBeFocused();
  await panel.getByLabel("Message").fill("What is 12 * 3.5?");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(panel).toContainText("Max steps must be at most 12.");

  await field(page, "Max steps").fill("3");
  await page.getByRole("checkbox", { name: /^calculate/ }).check();
  await panel.getByRole("button", { name: "Run draft" }).click();
  await expect(panel.getByText("Completed")).toBeVisible();
  await expect(panel.getByRole("listitem").filter({ hasText: "calculate" })).toBeVisible();
  await expect(page.getByText("Unsaved changes")).toBeVisible();
  await panel.getByRole("button", { name: "Run the same message on v1" }).click();
  const current = panel.getByRole("region", { name: "Same message on v1" });
  await expect(current.getByText("Completed")).toBeVisible();
  await expectAccessible(page, "trying the draft of an agent");
  await current.getByRole("link", { name: "Compare the runs" }).click();
  await expect(page).toHaveURL(/\/runs\/compare/);
  await expect(page.getByText(`${name} (draft)`).first()).toBeVisible();
});

async function createAgent(page: Page, name: string): Promise<void> {
  await page.goto("/agents/new");
  await field(page, "Name").fill(name);
  await field(page, "Model").selectOption("demo");
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
}

test("a message is kept when somebody else saves the agent", async ({ ownerPage: page }) => {
  const name = `Desk ${unique()}`;
  await createAgent(page, name);
  const address = page.url();
  await page.clock.install();
  await page.goto(address);
  await field(page, "Message").fill("Where is order 4713?");
  const other = await page.context().newPage();
  await other.goto(`${address}/edit`);
  await other.getByLabel("Max steps", { exact: true }).fill("3");
  await save(other).click();
  await expect(other.getByRole("heading", { level: 1, name })).toBeVisible();
  await other.close();
  // Returning to a page that is older than 30 s reads the agent again.
  await page.clock.fastForward("00:31");
  await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
  await expect(page.getByText("v2", { exact: true }).first()).toBeVisible();
  await expect(field(page, "Message")).toHaveValue("Where is order 4713?");
});

test("a conflict shows both versions, and the draft is kept until it is saved", async ({
  ownerPage: page,
}) => {
  const name = `Desk ${unique()}`;
  await createAgent(page, name);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await fillEditor(editor(page, "System prompt"), "Answer in one word.");
  // Somebody else renames and disables it meanwhile, which makes no version.
  const other = await page.context().newPage();
  const address = page.url();
  await other.goto(address);
  await other.getByRole("button", { name: "Discard" }).click();
  await expect(other.getByRole("button", { name: "Undo" })).toBeVisible();
  await field(other, "Name").fill(`${name} 2`);
  await expect(other.getByRole("button", { name: "Undo" })).toBeHidden();
  await field(other, "Status").selectOption("inactive");
  await save(other).click();
  await expect(other.getByRole("heading", { level: 1, name: `${name} 2` })).toBeVisible();
  await save(page).click();
  await expect(
    page.getByText("Somebody changed this agent since you opened it; nothing was overwritten."),
  ).toBeVisible();
  const rename = page.getByRole("region", { name: "Differences from the saved agent" });
  await expect(rename.getByRole("heading", { name: "name" })).toBeVisible();
  await expect(rename.getByRole("heading", { name: "status" })).toBeHidden();
  await rename.getByRole("button", { name: "Keep my draft" }).click();
  await expect(rename).toBeHidden();
  // Then they save a version.
  await other.goto(address);
  await other.getByRole("button", { name: "Discard" }).click();
  await other.getByLabel("Max steps", { exact: true }).fill("3");
  await save(other).click();
  await expect(other.getByRole("heading", { level: 1, name: `${name} 2` })).toBeVisible();
  await other.close();
  // Coming back to the window must not replace what was typed.
  await page.evaluate(() => {
    document.dispatchEvent(new Event("visibilitychange"));
    window.dispatchEvent(new Event("focus"));
  });
  await save(page).click();
  await expect(page.getByText(/Version 2 of this agent was saved since you opened version 1/)).toBeVisible();
  await expectText(editor(page, "System prompt"), "Answer in one word.");
  const conflict = page.getByRole("region", { name: "Differences from version 2" });
  await expect(conflict).toContainText("Answer in one word.");
  await expect(conflict.getByRole("heading", { name: "max steps" })).toBeVisible();
  await expectAccessible(page, "a conflict");

  // A reload keeps the draft with its version.
  await fillEditor(editor(page, "System prompt"), "Answer in two words.");
  await page.reload();
  await expect(conflict).toContainText("Answer in two words.");
  await conflict.getByRole("button", { name: "Keep my draft" }).click();
  await expect(conflict).toBeHidden();
  await save(page).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  await expect(page.getByText("Answer in two words.").first()).toBeVisible();
  await expect(page.getByRole("table", { name: "Versions" })).toContainText("v3");
  // The draft began when the agent was active.
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await expect(field(page, "Status")).toHaveValue("inactive");
});

test("what is typed while an agent is saved stays as a draft", async ({ ownerPage: page }) => {
  const name = `Desk ${unique()}`;
  const maxSteps = field(page, "Max steps");
  const typeDuringSave = async (button: string, typed: string) => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const hold = async (route: Route) => {
      await released;
      await route.continue();
    };
    await page.route("**/api/trpc/definitions.saveAgent*", hold, { times: 1 });
    await page.getByRole("button", { name: button, exact: true }).click();
    await expect(page.getByRole("button", { name: "Saving" })).toBeVisible();
    await maxSteps.fill(typed);
    release();
  };
  await page.goto("/agents/new");
  await field(page, "Name").fill(name);
  await field(page, "Model").selectOption("demo");
  await typeDuringSave("Create agent", "3");
  await expect(page.getByRole("heading", { level: 1, name: "Edit agent" })).toBeVisible();
  const difference = page.getByRole("region", { name: "Differences from version 1" });
  await expect(difference.getByRole("heading")).toHaveText([
    "Version 1 was saved while you were editing",
    "max steps",
  ]);
  await difference.getByRole("button", { name: "Keep my draft" }).click();

  await maxSteps.fill("4");
  await typeDuringSave("Save", "5");
  await expect(page.getByText("Version 2 is current.")).toBeVisible();
  await expect(page.getByText("from v2")).toBeVisible();
  await expect(page.getByText("Unsaved changes")).toBeVisible();
  await expect(maxSteps).toHaveValue("5");
  await save(page).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  await expect(page.getByText("Version 3 is current.")).toBeVisible();
});

test("a draft that continues after a save conflicts with a version saved since", async ({
  ownerPage: page,
}) => {
  await createAgent(page, `Desk ${unique()}`);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  const maxSteps = field(page, "Max steps");
  await maxSteps.fill("4");
  const saveAnother = async (route: Route) => {
    const answer = await route.fetch();
    const sent = route.request().postData() ?? "";
    const another = sent.replace('"version":1', '"version":2').replace(/"maxSteps":"?4"?/, '"maxSteps":9');
    expect(await (await route.fetch({ postData: another })).text()).toContain('"version":3');
    await maxSteps.fill("5");
    await route.fulfill({ response: answer });
  };
  await page.route("**/api/trpc/definitions.saveAgent*", saveAnother, { times: 1 });
  await save(page).click();
  await expect(page.getByText("Version 2 is current.")).toBeVisible();
  const difference = page.getByRole("region", { name: "Differences from version 3" });
  await expect(difference.getByRole("heading", { name: "max steps" })).toBeVisible();
  await expect(maxSteps).toHaveValue("5");
});

test("drafts belong to the organization and person, and are deleted on sign-out", async ({
  freshOwnerPage: page,
  organization,
}) => {
  await page.goto("/agents/new");
  await field(page, "Name").fill("Secret plan");
  await expect(page.getByText("Unsaved changes")).toBeVisible();
  const drafts = () =>
    page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("stepwell.draft.")));
  expect(await drafts()).toEqual([
    expect.stringMatching(new RegExp(`^stepwell\\.draft\\.${organization.slug}\\.[^.]+\\.agent\\.new$`)),
  ]);
  await page.getByRole("button", { name: /^Signed in as/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in");
  expect(await drafts()).toEqual([]);
});

test("a tool is made from YAML whose problems are named with their lines, and run by its form", async ({
  ownerPage: page,
}) => {
  const slug = `tool-${unique()}`;
  await page.goto("/tools/new?from=greeting");
  await page.getByRole("button", { name: "YAML", exact: true }).click();
  const yaml = editor(page, "Definition as YAML");
  await expect(yaml).toHaveAccessibleDescription(/press Escape, then Tab/);
  const begin = (await textOf(yaml)).replace("slug: greeting", `slug: ${slug}`);
  await fillEditor(yaml, begin.replace("transform_json", "transform_jsn"));
  const problems = page.getByRole("region", { name: "Problems" });
  await expect(problems).toContainText('There is no function named "transform_jsn"');
  await problems.getByRole("button", { name: "greeting, Function", exact: true }).click();
  await expect(yaml).toBeFocused();
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(page.getByText("1 problem", { exact: true })).toBeVisible();
  // The rejected save leads to the first problem; typing before that would be interrupted.
  await expect(yaml).toBeFocused();
  await fillEditor(yaml, begin);
  await expect(problems).toContainText("No problems");
  await page.getByRole("button", { name: "Create tool" }).click();

  await expect(page.getByRole("heading", { level: 1, name: "Greeting" })).toBeVisible();
  await page.getByRole("textbox", { name: "city" }).fill("Oslo");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const panel = page.getByRole("region", { name: "Run Greeting" });
  await expect(panel.getByText("Hello Oslo")).toBeVisible();
  // The browser asks for a required field that is empty, before anything is started.
  const city = page.getByRole("textbox", { name: "city" });
  await city.fill("");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(city).toBeFocused();
  expect(await city.evaluate((input: HTMLInputElement) => input.validity.valueMissing)).toBe(true);
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  await fillEditor(editor(page, "Input as JSON"), '{"city": 5}');
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(panel.getByText("/city")).toBeVisible();

  // The slug names the tool: an edit cannot move it to another one.
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.getByRole("button", { name: "YAML", exact: true }).click();
  await fillEditor(yaml, begin.replace(`slug: ${slug}`, "slug: double"));
  await save(page).click();
  await expect(problems).toContainText("Slug cannot be changed");
});

test("a long YAML is checked, and a check that fails is reported", async ({ ownerPage: page }) => {
  await page.goto("/tools/new?from=greeting");
  await page.getByRole("button", { name: "YAML", exact: true }).click();
  const yaml = editor(page, "Definition as YAML");
  const problems = page.getByRole("region", { name: "Problems" });
  const long = (await textOf(yaml)).replace(
    /description: .*/,
    `description: ${"A long description. ".repeat(400)}`,
  );
  await fillEditor(yaml, long.replace("transform_json", "transform_jsn"));
  await expect(problems).toContainText('There is no function named "transform_jsn"');

  await page.route("**/api/trpc/definitions.checkTool*", (route) => route.abort());
  await fillEditor(yaml, long);
  await expect(problems).toContainText("Could not check the definition");
  await page.unroute("**/api/trpc/definitions.checkTool*");
  await problems.getByRole("button", { name: "Check again" }).click();
  await expect(problems).toContainText("No problems");
});

test("a viewer sees why nothing can be run, and is offered no editor", async ({
  viewerPage: page,
  organization,
}) => {
  await page.goto(`/agents/${organization.agentId}`);
  await expect(page.getByText("Starting one needs the role Member.")).toBeVisible();
  await expect(page.getByRole("link", { name: "Edit", exact: true })).toHaveCount(0);
  await page.goto("/agents");
  await expect(page.getByRole("heading", { level: 1, name: "Agents" })).toBeVisible();
  await expect(page.getByRole("link", { name: "New agent" })).toHaveCount(0);
  for (const path of ["/agents/new", "/tools/new", `/agents/${organization.agentId}/edit`]) {
    await page.goto(path);
    await expect(page.getByText(/Only members and above create and edit (agents|tools)/)).toBeVisible();
    await expect(page.getByRole("textbox")).toHaveCount(0);
  }
});

test("an agent's model settings are typed, checked and shown on its page", async ({ ownerPage: page }) => {
  const name = `Settings ${unique()}`;
  await page.goto("/agents/new");
  await field(page, "Name").fill(name);
  await field(page, "Model").selectOption("demo");
  await field(page, "Temperature").pressSequentially("0.05");
  const choose = (group: string, option: string) =>
    page.getByRole("group", { name: group }).getByRole("button", { name: option, exact: true }).click();
  await choose("Reasoning effort", "Medium");
  await page.getByText("More settings").click();
  await choose("Parallel tool calls", "No");
  await fillEditor(editor(page, "Model options"), '{"seed": 7, "model": "dear"}');
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByText("Model options cannot have model")).toBeVisible();
  await fillEditor(editor(page, "Model options"), '{"seed": 7}');
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  const definition = page.getByRole("region", { name: "Definition" });
  await expect(definition).toContainText("Temperature0.05");
  await expect(definition).toContainText("Reasoning effortmedium");
  await expect(definition).toContainText('"seed": 7');
});

test("an agent with a policy and an output schema answers with a record", async ({ ownerPage: page }) => {
  const name = `Strict ${unique()}`;
  await page.goto("/agents/new");
  await field(page, "Name").fill(name);
  await field(page, "Model").selectOption("demo");
  await page.getByRole("checkbox", { name: /^calculate/ }).check();
  await field(page, "Calls of calculate per run").fill("0");
  await field(page, "A failed call of calculate").selectOption("Ends the run");
  const outputSchema = {
    type: "object",
    properties: { cost: { type: "number" }, agreed: { type: "boolean" } },
    required: ["cost", "agreed"],
  };
  await page.getByRole("button", { name: "JSON Schema" }).click();
  await fillEditor(editor(page, "Output schema"), JSON.stringify(outputSchema));
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByText("Calls per run must be at least 1.")).toBeVisible();
  await field(page, "Calls of calculate per run").fill("1");
  await page.getByRole("button", { name: "Create agent" }).click();

  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  await expect(page.getByText("At most 1 call · A failed call ends the run")).toBeVisible();
  await expect(page.getByRole("table", { name: "Output schema" }).getByText("agreed")).toBeVisible();
  await expectAccessible(page, "the page of an agent with an output schema");
  await field(page, "Message").fill("What is 17 * 23?");
  await page.keyboard.press("ControlOrMeta+Enter");
  const outcome = page.getByRole("region", { name: `Run ${name}` });
  await expect(outcome.getByText("Completed")).toBeVisible();
  await expect(outcome.getByText("agreed")).toBeVisible();
});
