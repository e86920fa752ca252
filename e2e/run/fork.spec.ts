import { expectAccessible } from "../support/axe";
import { copyOf, editor, fillEditor } from "../support/editor";
import { expect, test } from "../support/fixtures";
import { finishRun } from "../support/start";

test("an ended run is forked at a step, and both runs lead to each other", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const origin = await finishRun(request, organization, { agent: "Double 21 for me" });
  await page.goto(`/runs/${origin}?step=1`);
  await page.getByRole("button", { name: "Fork from here" }).click();
  const dialog = page.getByRole("dialog", { name: "Fork from step 1, double" });
  const effects = dialog.getByRole("complementary", { name: "The fork's effects" });
  await expect(effects).toContainText("None: calls are answered from the record.");
  await fillEditor(editor(dialog, "System prompt"), "You double numbers.");
  await expect(dialog.getByText("1 line changed")).toBeVisible();
  await fillEditor(editor(dialog, "User message"), "");
  await dialog.getByLabel("Call of double").selectOption("Not made, with another output");
  await fillEditor(editor(page, "Output, as JSON"), "{");
  await dialog.getByRole("button", { name: "Start fork" }).click();
  await expect(dialog).toContainText("This is not valid JSON");
  await expect(dialog).toContainText("User message must not be empty.");
  await fillEditor(editor(dialog, "User message"), "Double 21, and say it in words");
  await fillEditor(editor(page, "Output, as JSON"), '{"doubled": 8202522731445525542}');
  await dialog.getByRole("radio", { name: /^Live/ }).click();
  await expect(effects).toContainText("At most");
  await expectAccessible(page, "the dialog of a fork");
  await dialog.getByRole("button", { name: "Start fork" }).click();

  await page.waitForURL(/\/runs\/compare/);
  await expect(page.getByRole("region", { name: "Configuration" })).toContainText("You double numbers.");
  await expect(page.getByRole("region", { name: "Output", exact: true })).toContainText(
    "8202522731445525542",
  );
  const fork = new URL(page.url()).searchParams.get("b") ?? "";
  await page.goto(`/runs/${fork}`);
  await expect(page.getByRole("region", { name: "Input" }).first()).toContainText("and say it in words");
  const facts = page.getByRole("region", { name: "Facts" });
  await expect(facts).toContainText("from step 1, live");
  await facts.getByRole("link", { name: "Compare" }).click();
  await page.waitForURL(/\/runs\/compare/);
  await page.goto(`/runs/${origin}`);
  await page.getByRole("region", { name: "Facts" }).locator(`a[href="/runs/${fork}"]`).click();
  await page.waitForURL(new RegExp(fork));
});

test("a fork's effects are those of the chosen version of the tool", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const slug = `effects-${crypto.randomUUID()}`;
  const save = async (step: string, expected: object): Promise<string> => {
    const saved = await page.request.post("/api/trpc/definitions.saveTool", {
      headers: { "sec-fetch-site": "same-origin" },
      data: { yaml: `slug: ${slug}\nname: Effects\nsteps: [{ id: order, ${step} }]`, expected },
    });
    expect(saved.status(), await saved.text()).toBe(200);
    return (await saved.json()).result.data.id;
  };
  const tool = await save("uses: current_time", { only: "create" });
  const origin = await finishRun(request, organization, { tool, input: {} });
  const replaces = { name: "Effects", description: "" };
  await save('uses: http_request, with: { url: "https://shop.test/" }', {
    only: "update",
    id: tool,
    version: 1,
    replaces,
  });
  await page.goto(`/runs/${origin}?step=1`);
  await page.getByRole("button", { name: "Fork from here" }).click();
  const effects = page.getByRole("complementary", { name: "The fork's effects" });
  await page.getByRole("radio", { name: /^Live/ }).click();
  await expect(effects).toContainText("None of its functions and tools changes anything outside.");
  await page.getByLabel("Version of the tool").selectOption("Version 2");
  await expect(effects).toContainText("order: http_request");
});

test("a long output of a step is loaded to be changed", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const tool = organization.toolIds["few-records"] ?? "";
  const origin = await finishRun(request, organization, { tool, input: { to: 2_000 } });
  await page.goto(`/runs/${origin}?step=1`);
  await page.getByRole("button", { name: "Fork from here" }).click();
  await page.getByLabel(/^Call of /).selectOption("Not made, with another output");
  const field = editor(page, "Output, as JSON");
  await expect(field).toContainText("record 1");
  expect(await copyOf(field)).toContain("record 2000");
});

test("a viewer cannot fork a run", async ({ viewerPage: page, request, organization }) => {
  const id = await finishRun(request, organization, { tool: organization.toolId, input: { number: 2 } });
  await page.goto(`/runs/${id}?step=1`);
  await expect(page.getByRole("region", { name: "Step 1" })).toContainText("Input and output");
  await expect(page.getByRole("button", { name: "Fork from here" })).toHaveCount(0);
});
