import { expect, test } from "../support/fixtures";
import { release } from "../support/slow-server";
import { finishRun, startRun } from "../support/start";

test("a comparison updates until both runs have ended, also with swapped sides", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const what = (to: number) => ({
    tool: organization.toolIds.winding ?? "",
    input: { to, fails: false },
  });
  const a = await startRun(request, organization, what(40));
  await release(a);
  const b = await startRun(request, organization, what(2));
  await page.goto(`/runs/compare?a=${a}&b=${b}`);
  const figures = page.getByRole("table", { name: "Figures of both runs" });
  await expect(figures).toContainText(/Running|Pending/);
  const output = page.getByRole("region", { name: "Output", exact: true });
  const completed = figures.getByText("Completed", { exact: true });
  await expect(completed).toHaveCount(1, { timeout: 60_000 });
  await expect(output).toContainText("Output: right has none yet");
  await page.getByRole("link", { name: "Swap sides" }).click();
  await expect(output).toContainText("Output: left has none yet");
  await release(b);
  await expect(completed).toHaveCount(2, { timeout: 60_000 });
  await expect(output).toContainText("Output: the same");
  // A head, 40 items, the step that held them, and a skipped one.
  await expect(page.getByRole("table", { name: "Steps of both runs" }).getByRole("row")).toHaveCount(43);
});

test("a failed run is compared by its error, without an output", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const a = await finishRun(request, organization, { tool: organization.toolId, input: { number: 1 } });
  const tool = organization.toolIds.inward ?? "";
  const b = await startRun(request, organization, { tool, input: {} });
  await page.goto(`/runs/compare?a=${a}&b=${b}`);
  const error = page.getByRole("region", { name: "Error" });
  await expect(error).toContainText("not a public address");
  await expect(error).toContainText("In step 1, call");
  await expect(error).toContainText("none: it ended as Completed");
  await expect(page.getByRole("region", { name: "Output", exact: true })).toContainText(
    "Output: right has no output",
  );
});

test("long texts are compared in full on demand", async ({ ownerPage: page, request, organization }) => {
  const tool = organization.toolIds.echo ?? "";
  const lines = Array.from({ length: 40_000 }, (_, index) => `line ${index}`);
  const changed = lines.with(39_000, "line of another kind");
  const a = await finishRun(request, organization, { tool, input: { lines } });
  const b = await finishRun(request, organization, { tool, input: { lines: changed } });
  await page.goto(`/runs/compare?a=${a}&b=${b}`);
  const input = page.getByRole("region", { name: "Input", exact: true });
  await expect(input).toContainText("Input: the starts are the same");
  await expect(input).toContainText("Only the first 32,768 characters are compared.");
  await input.getByRole("button", { name: /^Compare all of both: \d/ }).click();
  const differences = page.getByRole("region", { name: "Differences of the input" });
  await expect(differences).toContainText('− only left: "line 39000",');
  await expect(differences).toContainText('+ only right: "line of another kind",');
  await expect(input.getByRole("button")).toHaveCount(0);
});

test("the other run can be searched, with pages of older ones", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const tool = organization.toolIds.echo ?? "";
  const start = (word: string) => startRun(request, organization, { tool, input: { word } });
  const wanted = await start("peridot");
  const ids = await Promise.all(Array.from({ length: 52 }, () => start("quartz")));
  await page.goto(`/runs/compare?a=${ids[0]}`);
  const choices = page.getByRole("table", { name: "Runs to compare with" }).getByRole("link");
  await expect.poll(() => choices.count()).toBeGreaterThanOrEqual(49);
  await page.getByRole("button", { name: "Load older runs" }).click();
  await expect.poll(() => choices.count()).toBeGreaterThan(50);
  await page.getByRole("searchbox", { name: "Search runs" }).fill("peridot");
  await expect(choices).toHaveCount(1);
  await choices.click();
  await expect(page).toHaveURL(new RegExp(`b=${wanted}$`));
  await expect(page.getByRole("region", { name: "Input", exact: true })).toContainText("quartz");
});

test("two runs are compared side by side", async ({ ownerPage: page, request, organization }) => {
  const a = await finishRun(request, organization, { tool: organization.toolId, input: { number: 3 } });
  const b = await finishRun(request, organization, { tool: organization.toolId, input: { number: 5 } });
  await page.goto(`/runs/${a}`);
  await page.getByRole("link", { name: "Compare" }).click();
  await page.locator(`a[href$="b=${b}"]`).click();
  await expect(page.getByRole("region", { name: "Output", exact: true })).toContainText("doubled");
  await page.getByRole("table", { name: "Steps of both runs" }).getByRole("button").first().click();
  await expect(page.getByRole("region", { name: "Step 1" })).toHaveCount(2);
});
