import { expect, test } from "../support/fixtures";
import { finishRun } from "../support/start";

test("a run's configuration opens beside what has changed since", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const a = await finishRun(request, organization, { agent: "What is 2 + 2?" });
  const b = await finishRun(request, organization, { agent: "What is 2 + 3?" });
  await page.goto(`/runs/${a}`);
  await page.getByRole("button", { name: /^v\d+$/ }).click();
  const dialog = page.getByRole("dialog", { name: /^Configuration of this run/ });
  await expect(dialog).toContainText("You help with sums.");
  await expect(dialog).toContainText("double v1");
  await expect(dialog).toContainText("A run started now would use the same configuration.");
  await page.goto(`/runs/compare?a=${a}&b=${b}`);
  await expect(page.getByRole("region", { name: "Configuration" })).toContainText("the same");
});

test("a step says that its numbers became texts", async ({ ownerPage: page, request, organization }) => {
  const headers = { "X-API-Key": organization.apiKey, "Content-Type": "application/json" };
  const tool = organization.toolIds["few-records"] ?? "";
  const path = `/v1/tools/run/${tool}`;
  // JavaScript cannot hold the number.
  const data = Buffer.from('{"id":8202522731445525542}');
  const { id } = await (await request.post(path, { headers, data })).json();
  await page.goto(`/runs/${id}?step=1`);
  await expect(page.getByRole("region", { name: "Step 1" })).toContainText("They got them as texts.");
  const plain = await finishRun(request, organization, { tool, input: { id: 1 } });
  await page.goto(`/runs/${plain}?step=1`);
  await expect(page.getByRole("region", { name: "Step 1" })).toContainText("Input and output");
  await expect(page.getByRole("region", { name: "Step 1" })).not.toContainText("as texts");
});

test("a step shows its definition", async ({ ownerPage: page, request, organization }) => {
  const id = await finishRun(request, organization, { agent: "Double 21 for me" });
  await page.goto(`/runs/${id}?step=1`);
  await page.getByRole("tab", { name: "Definition" }).click();
  await expect(page.getByRole("tabpanel")).toContainText("tool: double");
  await expect(page.getByRole("tabpanel")).toContainText("version: 1");
});

test("on a phone, a step's texts are near, however long the timeline", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const input = { to: 30 };
  const id = await finishRun(request, organization, { tool: organization.counterId, input });
  await page.goto(`/runs/${id}`);
  const rows = page.getByRole("listbox", { name: "Timeline" }).getByRole("option");
  await rows.first().click();
  await page.keyboard.press("ArrowRight");
  await rows.nth(3).click();
  const step = page.getByRole("region", { name: "Step 3" });
  await expect(step).toBeInViewport();
  const top = await step.evaluate((element) => element.getBoundingClientRect().top + window.scrollY);
  expect(top).toBeLessThan(844);
});

test("records are tables, searched by row, and raw on demand", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const tool = organization.toolIds.records ?? "";
  const id = await finishRun(request, organization, { tool, input: {} });
  await page.goto(`/runs/${id}?step=1`);
  const output = page.getByRole("region", { name: "Output", exact: true });
  // The tab key skips everything below the edge of a collapsed text.
  const hidden = () => output.locator("button[inert]", { hasText: /^Next$/ }).count();
  await expect.poll(hidden).toBe(1);
  await output.getByRole("button", { name: /^Show all/ }).click();
  await expect(output.getByRole("row")).toHaveCount(101);
  await output.getByRole("button", { name: "Next" }).click();
  await expect(output).toContainText("101–200 of 250 rows");
  const search = output.getByRole("searchbox", { name: "Search this document" });
  // Matches begin on the first page.
  await search.fill("record");
  await expect(output).toContainText("1–100 of 250 rows");
  await search.fill("record 249");
  await expect(output.getByRole("row")).toHaveCount(2);
  await expect(output.getByRole("table")).toContainText("record 249");
  await output.getByRole("button", { name: "Raw" }).click();
  await expect(output).toContainText('{"total":250,"items":[{"id":1,"name":"record 1"}');

  const input = page.getByRole("region", { name: "Input of the step" });
  await input.getByRole("button", { name: "Raw" }).click();
  await expect(input).toContainText('{"value":250,"expression":');
  // An empty value has nothing to expand.
  const given = page.getByRole("region", { name: "Input", exact: true });
  await expect(given.getByRole("button")).toHaveCount(1);

  await page.getByRole("tab", { name: "Record" }).click();
  await expect(page.getByRole("tabpanel")).toContainText("startedAt");
  await expect(page.getByRole("tabpanel")).not.toContainText("record 1");
});
