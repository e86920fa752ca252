import { expect, test } from "../support/fixtures";
import { startRun } from "../support/start";

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
