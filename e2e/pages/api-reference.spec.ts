import { expectAccessible } from "../support/axe";
import { editor, fillEditor } from "../support/editor";
import { expect, test } from "../support/fixtures";

test("a start and a read are sent with a pasted key, which is in no line and no storage", async ({
  ownerPage: page,
  organization,
}) => {
  const errors: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.goto("/api-reference");
  await page
    .getByRole("navigation", { name: "Operations" })
    .getByRole("link", { name: "Run an agent" })
    .click();
  await expect(page).toHaveURL(/#runAgent$/);
  const start = page.getByRole("form", { name: "Try Run an agent" });
  await start.getByRole("button", { name: "Send request" }).click();
  await expect(start.getByRole("alert")).toHaveText("Paste an API key at the top of the page.");
  await page.getByLabel("API key", { exact: true }).fill(organization.apiKey);
  await start.getByLabel("agentId").fill(organization.agentId);
  await fillEditor(editor(start, "Body"), '{"userMessage":"What is 6 * 7?"}');
  await expect(start.locator("pre").first()).toContainText(`/v1/agents/run/${organization.agentId}`);
  await start.getByRole("button", { name: "Send request" }).click();
  const response = start.getByRole("region", { name: "Response" });
  await expect(response).toContainText("200");
  const started = /"id": "([0-9a-f-]{36})"/.exec((await response.textContent()) ?? "")?.[1] ?? "";

  const status = page.getByRole("form", { name: "Try Status of an agent run" });
  await status.getByLabel("agentRunId").fill(started);
  await status.getByRole("button", { name: "Send request" }).click();
  await expect(status.getByRole("region", { name: "Response" })).toContainText(started);

  await page.getByLabel("API key", { exact: true }).fill("sw_live_wrong");
  await status.getByRole("button", { name: "Send request" }).click();
  await expect(status.getByRole("region", { name: "Response" })).toContainText('"code": "unauthenticated"');
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
  expect(stored).not.toContain(organization.apiKey);
  await expect(start.locator("pre").first()).toContainText("$API_KEY");
  await expect(start.locator("pre").first()).not.toContainText(organization.apiKey);
  // The browser reports the rejected call itself; the policy must not have blocked anything.
  expect(errors.filter((text) => !text.includes("401"))).toEqual([]);
});

test("the keys page leads to the reference, which is accessible", async ({ ownerPage: page }) => {
  await page.goto("/keys");
  await page.getByRole("main").getByRole("link", { name: "API reference" }).click();
  await expect(page.getByRole("heading", { name: "API reference" })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Run a tool" })).toBeVisible();
  // One of each kind: opened as a whole, the page takes axe half a minute.
  for (const name of ["Run a tool", "List runs", "Apply a definition file"]) {
    for (const summary of await page.getByRole("region", { name, exact: true }).locator("summary").all())
      await summary.click();
  }
  await expectAccessible(page, "the API reference, opened");
});
