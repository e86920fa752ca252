import { expect, test } from "../support/fixtures";
import { finishRun } from "../support/start";

test("a viewer can read, and sees no other actions", async ({ viewerPage: page, request, organization }) => {
  const id = await finishRun(request, organization, { agent: "What is 2 * 2?" });
  await page.goto(`/runs/${id}`);
  await expect(page.getByRole("region", { name: "Answer" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Run again" })).toHaveCount(0);
  const rejected = await page.request.post("/api/trpc/runs.rerun", {
    headers: { origin: new URL(page.url()).origin },
    data: { runId: id },
  });
  expect(rejected.status()).toBe(403);
});

test("a viewer has no button for a new run", async ({ viewerPage: page }) => {
  await page.goto("/runs");
  await expect(page.getByRole("button", { name: "Export and more" })).toBeVisible();
  await expect(page.getByRole("button", { name: "New run" })).toBeHidden();
});

test("a viewer sees neither a trigger's address nor the audit log", async ({
  viewerPage: page,
  organization,
}) => {
  const token = (organization.triggers.inbound ?? "").split("/").at(-1) ?? "";
  const address = `/triggers/${organization.triggerIds.inbound}`;
  await page.goto(address);
  await expect(page.getByText("shown to members")).toBeVisible();
  expect(await (await page.request.get(address)).text()).not.toContain(token);
  await expect(page.getByRole("link", { name: "Audit log" })).toHaveCount(0);
  await page.goto("/audit");
  await expect(page.getByText("Only admins and owners can read the audit log")).toBeVisible();
  await page.goto("/members");
  await expect(page.getByRole("table", { name: "Members" })).toContainText(organization.owner.email);
});

test("changes are accepted only from the dashboard's own pages", async ({
  ownerPage: page,
  organization,
}) => {
  const body = { kind: "agent", id: organization.agentId, input: "Hello" };
  const foreign = await page.request.post("/api/trpc/runs.start", {
    headers: { origin: "https://evil.test" },
    data: body,
  });
  expect(foreign.status()).toBe(403);
  const form = await page.request.post("/api/trpc/runs.start", {
    headers: { origin: new URL(page.url()).origin, "content-type": "text/plain" },
    data: JSON.stringify(body),
  });
  expect(form.status()).toBe(403);
});
