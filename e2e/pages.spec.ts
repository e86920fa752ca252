import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { promisify } from "node:util";
import { expectNoFaultsAnywhere, expectNoFaultsOnPhone, PHONE } from "./support/axe";
import { clickAtOnce } from "./support/click-at-once";
import { expect, test } from "./support/fixtures";
import { finishRun, startRun } from "./support/start";

const SECRET = "e2e-signing-secret";
const signed = (body: string) => ({
  "Content-Type": "application/json",
  "X-Signature": createHmac("sha256", SECRET).update(body).digest("hex"),
});

test.describe("the page of a trigger", () => {
  test("its curl command works as pasted", async ({ ownerPage: page, organization }) => {
    await page.goto(`/triggers/${organization.triggerIds.doubles}`);
    const line = await page.getByRole("region", { name: "Call it" }).locator("pre").textContent();
    if (line === null) throw new Error("There is no call.");
    expect(line).not.toContain(SECRET);
    const { stdout } = await promisify(execFile)("sh", ["-c", line], { env: { ...process.env, SECRET } });
    expect(JSON.parse(stdout)).toMatchObject({ success: true, type: "tool" });
  });

  test("shows each delivery's reason, opens it and delivers it again", async ({
    ownerPage: page,
    request,
    organization,
  }) => {
    const url = organization.triggers.doubles ?? "";
    const id = organization.triggerIds.doubles;
    const body = JSON.stringify({ number: 21 });
    expect((await request.post(url, { headers: signed(body), data: body })).status()).toBe(200);
    const unsigned = { "Content-Type": "application/json" };
    expect((await request.post(url, { headers: unsigned, data: body })).status()).toBe(401);

    await page.goto(`/triggers/${id}`);
    await page.getByRole("link", { name: "rejected" }).click();
    await expect(page).toHaveURL(/outcome=rejected/);
    const rows = page.getByRole("table", { name: "Deliveries" }).locator("tbody tr");
    await expect(rows.first()).toContainText("The signature is missing or not valid. invalid_signature");
    const delivery = rows.first().getByRole("link", { name: /^Delivery/ });
    await clickAtOnce(page, page.getByRole("link", { name: "accepted" }), delivery);
    await expect(page).toHaveURL(/outcome=accepted&delivery=/);
    await page.goto(`/triggers/${id}?outcome=accepted`);
    await delivery.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Delivery" });
    await expect(dialog.getByRole("region", { name: "Headers" })).toContainText("[redacted]");
    await expect(dialog.getByRole("region", { name: "Body" })).toContainText("number");
    await dialog.getByRole("button", { name: "Redeliver" }).click();
    await dialog.getByRole("button", { name: "Start the run" }).click();
    await expect(dialog).toContainText("Delivered again as run");
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
    await expect(rows.filter({ hasText: "redelivery" }).first()).toBeVisible();
  });

  test("previews a message template on a delivery", async ({ ownerPage: page, request, organization }) => {
    const headers = { "Content-Type": "application/json" };
    await request.post(organization.triggers.inbound ?? "", { headers, data: { order: { id: 7 } } });
    await page.goto(`/triggers/${organization.triggerIds.inbound}?outcome=accepted`);
    await page
      .getByRole("link", { name: /^Delivery/ })
      .first()
      .click();
    await page.getByLabel("Message template").fill("{{ body.( }}");
    await page.getByRole("button", { name: "Preview the message" }).click();
    await expect(page.getByText("The trigger's message template fails")).toBeVisible();
    await page.getByLabel("Message template").fill("Order {{ body.order.id }}");
    await page.getByRole("button", { name: "Preview the message" }).click();
    await expect(page.getByRole("region", { name: "Message" })).toHaveText("Order 7");
  });
});

test("the pages of an agent and a tool show their definition and links", async ({
  ownerPage: page,
  organization,
}) => {
  await page.goto("/agents");
  await page.getByRole("link", { name: "Helper", exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`/agents/${organization.agentId}`));
  const definition = page.getByRole("region", { name: "Definition" });
  await expect(definition).toContainText("You help with sums.");
  await page.getByRole("button", { name: /^v1/ }).click();
  await expect(page.getByRole("region", { name: "Versions" })).toContainText("gpt-5-mini");
  await definition.getByRole("link", { name: "Double", exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`/tools/${organization.toolId}`));
  await expect(definition).toContainText("calculate");
  await expect(definition.getByRole("table", { name: "Parameters" })).toContainText("number, required");
  const agents = page.getByRole("region", { name: "Used by" });
  await expect(agents.getByRole("link", { name: "Helper" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Last 7 days" })).toContainText("Success rate");
});

test("the triggers are sorted by a figure of the last seven days, and by name again", async ({
  ownerPage: page,
}) => {
  await page.goto("/triggers");
  const table = page.getByRole("table", { name: "Triggers" });
  const runs = table.getByRole("columnheader", { name: "Runs, 7 d" });
  await runs.getByRole("link").click();
  await expect(page).toHaveURL("/triggers?sort=runs");
  await expect(runs).toHaveAttribute("aria-sort", "descending");
  await runs.getByRole("link").click();
  await expect(page).toHaveURL("/triggers");
  await expect(runs).not.toHaveAttribute("aria-sort");
});

test("on a phone the lists show runs and the success rate", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  await finishRun(request, organization, { tool: organization.toolId, input: { number: 2 } });
  await page.setViewportSize(PHONE);
  await page.goto("/tools");
  const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "Double", exact: true }) });
  await expect(row).toContainText(/\d+ runs?, ?[\d.]+%/);
  await expect(page.locator("thead")).toBeHidden();
  for (const path of ["/agents", "/triggers"]) {
    await page.goto(path);
    await expect(page.getByRole("table").first()).toContainText(/\d+ runs?|–/);
    await expectNoFaultsOnPhone(page, path);
  }
});

test("a new run begins with the choice of its agent or tool, for those who may start one", async ({
  ownerPage: page,
  organization,
}) => {
  await page.goto("/runs");
  await page.getByRole("button", { name: "New run" }).click();
  await expect(page.getByRole("menuitem", { name: "Double", exact: true })).toBeVisible();
  await page.getByRole("menuitem", { name: "Helper", exact: true }).click();
  await expect(page).toHaveURL(`/agents/${organization.agentId}`);
  await expect(page.getByLabel("Message")).toBeVisible();
});

test("a viewer has no button for a new run", async ({ viewerPage: page }) => {
  await page.goto("/runs");
  await expect(page.getByRole("button", { name: "Export and more" })).toBeVisible();
  await expect(page.getByRole("button", { name: "New run" })).toBeHidden();
});

test("the ledger shows what a run cost", async ({ ownerPage: page, request, organization }) => {
  const id = await finishRun(request, organization, { tool: organization.toolId, input: { number: 2 } });
  await page.goto("/credits?kind=charge");
  const row = page.getByRole("table", { name: "Ledger" }).locator("tbody tr", {
    has: page.locator(`a[href="/runs/${id}"]`),
  });
  await expect(row).toContainText("−0.0100");
  await page.getByRole("link", { name: "Grant" }).click();
  await expect(page.getByRole("table", { name: "Ledger" })).toContainText("+1,000.0000");
  // Holds and releases are hidden until asked for.
  await page.getByRole("link", { name: "All", exact: true }).click();
  await expect(row).toHaveCount(1);
  await page.getByText("Show holds and releases").click();
  await expect(page).toHaveURL("/credits?holds=shown");
  await expect(row).toHaveCount(3);
  await expect(row.filter({ hasText: "Hold" })).toContainText("−");
});

test("the audit log shows changes to owners", async ({ ownerPage: page }) => {
  await page.goto("/audit");
  const line = page.getByRole("button", { name: /Agent created Helper/ });
  // Other tests' changes may have moved it to the second page.
  const older = page.getByRole("button", { name: "Load older lines" });
  await expect(line.or(older).first()).toBeVisible();
  if (!(await line.isVisible())) await older.click();
  await line.click();
  await expect(page.getByRole("table", { name: "Changes" })).toContainText("gpt-5-mini");
});

test("the audit log is narrowed to one kind of subject", async ({ ownerPage: page }) => {
  await page.goto("/audit");
  const log = page.getByRole("list", { name: "Audit log" });
  await page.getByRole("navigation", { name: "Changes of" }).getByRole("link", { name: "Triggers" }).click();
  await expect(page).toHaveURL("/audit?subject=trigger");
  await expect(log.getByRole("button", { name: /Trigger created/ }).first()).toBeVisible();
  await expect(log.getByRole("button", { name: /Agent created/ })).toHaveCount(0);
  await page.reload();
  await expect(log.getByRole("button", { name: /Trigger created/ }).first()).toBeVisible();
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

test("a link to something unknown shows a not-found page within the frame", async ({ ownerPage: page }) => {
  await page.goto("/agents");
  const unknown = "01a1fce1-2efc-779d-96d7-58140f1414c7";
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("combobox")).toBeFocused();
  await page.keyboard.insertText(unknown);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`/runs/${unknown}`);
  await expect(page.getByText("Run not found")).toBeVisible();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  await page.getByRole("link", { name: "Go to runs" }).click();
  await expect(page.getByRole("heading", { name: "Runs" })).toBeVisible();
});

test("unknown pages answer 404", async ({ ownerPage: page }) => {
  for (const kind of ["agent", "tool", "trigger"]) {
    const words = new RegExp(`${kind} not found`, "i");
    const answer = await page.goto(`/${kind}s/nonsense`);
    expect(answer?.status()).toBe(404);
    await expect(page.getByText(words)).toBeVisible();
    const unknown = await page.request.get(`/${kind}s/01a1fce1-2efc-779d-96d7-58140f1414c7`);
    expect(unknown.status()).toBe(404);
    expect(await unknown.text()).toMatch(words);
  }
});

const FAILURES = [
  { tool: "undivided", input: {}, says: "A calculation failed.", where: "step 1, part" },
  {
    tool: "inward",
    input: {},
    says: "A call to another service failed.",
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

test("each page leads to the guide that helps there, and guides to each other", async ({
  ownerPage: page,
}) => {
  await page.goto("/triggers");
  await page.getByRole("link", { name: "Docs", exact: true }).click();
  await expect(page).toHaveURL("/docs/webhooks");
  await expect(page.getByRole("heading", { level: 1, name: "Webhooks" })).toBeVisible();
  await expect(page.getByRole("heading", { level: 2, name: "Sign a call" })).toBeVisible();
  await page.getByRole("navigation", { name: "Guides" }).getByRole("link", { name: "Secrets" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
  await expect(page).toHaveTitle(/Docs/);
  await expectNoFaultsAnywhere(page, "a guide");
  const unknown = await page.request.get("/docs/engine");
  expect(unknown.status()).toBe(404);
});
