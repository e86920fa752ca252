import { expect, test } from "../support/fixtures";
import { startRun } from "../support/start";

test("a run that could not be loaded leaves the form that started it, and loads on retry", async ({
  ownerPage: page,
  organization,
}) => {
  await page.goto(`/agents/${organization.agentId}`);
  const message = page.getByLabel("Message", { exact: true });
  await message.fill("What is 2 + 3?");
  const shown = { code: "not_found", message: "Run not found.", issues: [] };
  const answer = [{ error: { message: "Run not found.", code: -32004, data: { shown } } }];
  await page.route("**/api/trpc/runs.inspect?*", (route) => route.fulfill({ status: 404, json: answer }));
  await page.keyboard.press("ControlOrMeta+Enter");
  const panel = page.getByRole("region", { name: "Run Helper" });
  const problem = panel.getByRole("alert").filter({ hasText: "Could not load the run" });
  await expect(problem).toContainText("Run not found.");
  await expect(problem.getByRole("link", { name: "Open run" })).toBeVisible();
  await expect(message).toHaveValue("What is 2 + 3?");
  await page.unroute("**/api/trpc/runs.inspect?*");
  await problem.getByRole("button", { name: "Try again" }).click();
  await expect(panel.getByText("Completed")).toBeVisible();
});

const FAILURES = [
  { tool: "undivided", input: {}, says: "A calculation failed.", where: "step 1, part" },
  {
    tool: "inward",
    input: {},
    says: "A call to an address that is not public was rejected.",
    where: "step 1, call",
  },
  // Twice as much overflows to a value that is not a JSON number.
  {
    tool: "double",
    input: { number: 1e308 },
    says: "does not match its output schema",
    where: null,
  },
];

for (const { tool, input, says, where } of FAILURES) {
  test(`a run of ${tool} opens on its failure, shown once, with advice`, async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    const toolId = organization.toolIds[tool] ?? "";
    const id = await startRun(request, organization, { tool: toolId, input });
    const headers = { "X-API-Key": organization.apiKey };
    const read = async () => (await request.get(`/v1/tools/run/${id}/status`, { headers })).json();
    await expect.poll(async () => (await read()).status).toBe("Failed");
    await page.goto(`/runs/${id}`);
    const failure = page.getByRole("region", { name: "Failure" });
    await expect(failure).toHaveCount(1);
    await expect(failure).toContainText(says);
    await expect(failure).toContainText((await read()).errorMessage);
    if (where !== null) await expect(failure).toContainText(where);
    await failure.getByRole("link", { name: "Open the tool" }).click();
    await expect(page).toHaveURL(`/tools/${toolId}`);
  });
}
