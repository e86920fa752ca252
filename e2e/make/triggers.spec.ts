import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { expectAccessible } from "@/e2e/support/axe";
import { editor, expectText, fillEditor } from "@/e2e/support/editor";
import { expect, openSession, test } from "@/e2e/support/fixtures";
import { createOwnOrganization } from "@/e2e/support/own-organization";

const unique = (name: string) => `${name} ${Date.now().toString(36)}${test.info().workerIndex}`;

async function openForm(page: Page) {
  await page.goto("/triggers");
  await page.getByRole("button", { name: "New trigger" }).first().click();
  return page.getByRole("dialog", { name: "New trigger" });
}

test("a new trigger is called as pasted, tested, disabled and deleted", async ({ ownerPage: page }) => {
  test.setTimeout(120_000);
  const name = unique("Orders");
  const slug = name.toLowerCase().replace(" ", "-");
  const form = await openForm(page);
  await form.getByLabel("Name").fill(name);
  await expect(form.getByLabel("Slug")).toHaveValue(slug);
  await form.getByLabel("Starts").selectOption("Helper");
  await fillEditor(editor(form, "Message template"), "Order {{ body.id }}");
  await form.getByText("Preview", { exact: true }).click();
  await expectText(editor(form, "Sample body"), '{"id":"text"}');
  await fillEditor(editor(form, "Sample body"), '{"id":7}');
  await form.getByRole("button", { name: "Preview the message" }).click();
  await expect(form.getByRole("region", { name: "Message" })).toContainText("Order 7");
  await form.getByRole("button", { name: "Create trigger" }).click();

  const created = page.getByRole("dialog", { name: `Trigger ${name} created` });
  const line = (await created.getByRole("region", { name: "Call it" }).locator("pre").textContent()) ?? "";
  const call = async () => JSON.parse((await promisify(execFile)("sh", ["-c", line])).stdout);
  expect(line).toContain(`BODY='{"id":"text"}'`);
  expect(await call()).toMatchObject({ success: true, type: "agent" });
  await created.getByRole("link", { name: "Open the trigger" }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();

  await page.getByRole("button", { name: "Send a test call" }).click();
  const tested = page.getByRole("dialog", { name: "Send a test call" });
  await tested.getByRole("button", { name: "Send" }).click();
  await expect(tested).toContainText("Accepted with status 200.");
  await tested.getByRole("button", { name: "Close" }).click();
  const deliveries = page.getByRole("table", { name: "Deliveries" }).locator("tbody tr");
  await expect(deliveries).toHaveCount(2);

  const act = async (label: string) => {
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: label }).click();
  };
  await act("Disable");
  await expect(page.getByText("disabled", { exact: true })).toBeVisible();
  await expect.poll(call).toMatchObject({ success: false });
  await page.getByRole("button", { name: "Send a test call" }).click();
  await tested.getByRole("button", { name: "Send" }).click();
  await expect(tested).toContainText("Rejected with status");
  await tested.getByRole("button", { name: "Close" }).click();
  await act("Enable");
  await expect(page.getByText("disabled", { exact: true })).toHaveCount(0);

  await act("Delete");
  await page
    .getByRole("dialog", { name: `Delete ${name}` })
    .getByRole("button", { name: "Delete trigger" })
    .click();
  await expect(page).toHaveURL(/\/triggers$/);
  await expect(page.getByRole("row").filter({ hasText: name })).toHaveCount(0);
  await expect.poll(call).toMatchObject({ success: false });
});

test("a form that was opened before the trigger changed does not enable it, and overwrites nothing", async ({
  ownerPage: page,
}) => {
  const name = unique("Stays");
  const form = await openForm(page);
  await form.getByLabel("Name").fill(name);
  await form.getByLabel("Starts").selectOption("Double");
  await form.getByRole("button", { name: "Create trigger" }).click();
  await page.getByRole("link", { name: "Open the trigger" }).click();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const edit = page.getByRole("dialog", { name: `Edit ${name}` });
  await edit.getByLabel("Name").fill(`${name} again`);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole("button", { name: "More", exact: true }).click();
  await other.getByRole("menuitem", { name: "Disable" }).click();
  await expect(other.getByText("disabled", { exact: true })).toBeVisible();
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1, name: `${name} again` })).toBeVisible();
  await expect(page.getByText("disabled", { exact: true })).toBeVisible();

  const open = (tab: Page) => tab.getByRole("button", { name: "Edit", exact: true }).click();
  await open(page);
  const older = page.getByRole("dialog", { name: `Edit ${name} again` });
  await older.getByRole("textbox", { name: "Calls" }).fill("7");
  await other.reload();
  await open(other);
  await other.getByLabel("Filter").fill("body.total > 5");
  await other.getByRole("button", { name: "Save" }).click();
  await expect(other.getByRole("dialog")).toBeHidden();
  await other.close();
  await older.getByRole("button", { name: "Save" }).click();
  await expect(older.getByRole("alert")).toHaveText(
    "Somebody changed this trigger since you opened it; nothing was overwritten. Copy what you want to keep, then open the form again.",
  );
  await expect(older.getByRole("textbox", { name: "Calls" })).toHaveValue("7");
  await older.getByRole("button", { name: "Cancel" }).click();
  await open(page);
  await expect(older.getByLabel("Filter")).toHaveValue("body.total > 5");
});

test("a trigger is edited, and its secret and address are replaced", async ({ ownerPage: page }) => {
  const name = unique("Edited");
  const form = await openForm(page);
  await form.getByRole("button", { name: "Create trigger" }).click();
  await expect(form).toContainText("Choose an agent or a tool.");
  await form.getByLabel("Starts").selectOption("Double");
  await form.getByRole("button", { name: "Create trigger" }).click();
  await expect(form).toContainText("Slug must be 1 to 64 of a-z");
  await form.getByLabel("Name").fill(name);
  await form.getByLabel("Slug").fill("inbound");
  await form.getByRole("button", { name: "Create trigger" }).click();
  await expect(form).toContainText('Slug is taken: a trigger "inbound" exists.');
  await form.getByLabel("Slug").fill(name.toLowerCase().replace(" ", "-"));
  await form.getByLabel("None: anyone").check();
  await form.getByRole("button", { name: "Create trigger" }).click();
  await page.getByRole("dialog").getByRole("link", { name: "Open the trigger" }).click();

  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const edit = page.getByRole("dialog", { name: `Edit ${name}` });
  await edit.getByLabel("Calls", { exact: true }).fill("7");
  await edit.getByRole("button", { name: "Save" }).click();
  const definition = page.getByRole("region", { name: "Definition" });
  await expect(definition).toContainText("7 calls per 60 s");

  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Add a secret" }).click();
  await page.getByRole("button", { name: "Generate a secret" }).click();
  await expect(page.getByRole("region", { name: "Signing secret" })).toContainText(/[0-9a-f]{64}/);
  await page.getByRole("button", { name: "Done" }).click();
  await expect(definition).toContainText("valid until it is replaced");

  const before = await definition.getByText(/\/webhooks\//).textContent();
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Replace the address" }).click();
  await page.getByRole("button", { name: "Replace address" }).click();
  await expect(definition.getByText(/\/webhooks\//)).not.toHaveText(before ?? "");
});

test("the only agent is chosen, and without one the form leads to it", async ({ page }) => {
  await openSession(page, await createOwnOrganization());
  const form = await openForm(page);
  await expect(form.getByRole("link", { name: "Create an agent" })).toBeVisible();
  const saved = await page.request.post("/api/trpc/definitions.saveAgent", {
    headers: { "sec-fetch-site": "same-origin" },
    data: {
      definition: { slug: "desk", name: "Desk", model: "demo" },
      expected: { only: "create" },
    },
  });
  expect(saved.status(), await saved.text()).toBe(200);
  await openForm(page);
  await expect(form.getByLabel("Starts").locator("option:checked")).toHaveText("Desk");
  await form.getByLabel("Name").fill("Orders");
  await form.getByRole("button", { name: "Create trigger" }).click();
  await expect(page.getByRole("dialog", { name: "Trigger Orders created" })).toBeVisible();
});

test("a viewer sees who creates triggers, and no action", async ({ viewerPage: page, organization }) => {
  await page.goto("/triggers");
  await expect(page.getByText("Members and above create triggers.")).toBeVisible();
  await expect(page.getByRole("button", { name: "New trigger" })).toHaveCount(0);
  await page.goto(`/triggers/${organization.triggerIds.inbound}`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  for (const name of ["Send a test call", "Edit", "More"]) {
    await expect(page.getByRole("button", { name, exact: true })).toHaveCount(0);
  }
});

test("a trigger for Stripe filters events and explains a rejected signature", async ({
  ownerPage: page,
  request,
}) => {
  test.setTimeout(120_000);
  const name = unique("Payments");
  const form = await openForm(page);
  await form.getByLabel("Name").fill(name);
  await form.getByLabel("Starts").selectOption("Helper");
  await form.getByLabel("Filter").fill('body.type = "charge.refunded"');
  await form.getByLabel("Sender", { exact: true }).selectOption("Stripe");
  await expect(form.getByLabel("Use the sender's")).toBeChecked();
  await form.getByLabel("Secret", { exact: true }).fill("whsec_e2e");
  const opening = page.waitForEvent("popup");
  await form.getByRole("link", { name: "Where to click" }).click();
  const guide = await opening;
  await expect(guide).toHaveURL("/docs/senders#stripe");
  await guide.close();
  await form.getByRole("button", { name: "Create trigger" }).click();
  await page.getByRole("link", { name: "Open the trigger" }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  await expect(page.getByRole("region", { name: "Call it" })).toHaveCount(0);
  const definition = page.getByLabel("Definition");
  await expect(definition).toContainText("HMAC-SHA-256 in hex of {timestamp}.{body}, in stripe-signature");
  await expect(definition).toContainText('body.type = "charge.refunded"');

  const url = (await definition.getByText("/webhooks/").textContent()) ?? "";
  let secret = "whsec_e2e";
  const send = async (signed: string, data = signed) => {
    const timestamp = Math.floor(Date.now() / 1000);
    const digest = createHmac("sha256", secret).update(`${timestamp}.${signed}`).digest("hex");
    const headers = { "Content-Type": "application/json", "Stripe-Signature": `t=${timestamp},v1=${digest}` };
    return (await request.post(url, { headers, data: Buffer.from(data) })).json();
  };
  expect(await send('{"id":"evt_1","type":"charge.refunded"}')).toMatchObject({ success: true });
  expect(await send('{"id":"evt_2","type":"invoice.created"}')).toMatchObject({
    success: false,
    runId: null,
  });
  const spaced = '{ "id": "evt_3", "type": "charge.refunded" }';
  expect(await send('{"id":"evt_3","type":"charge.refunded"}', spaced)).toMatchObject({
    code: "invalid_signature",
  });

  await page.getByRole("button", { name: "Refresh" }).click();
  const rows = page.getByRole("table", { name: "Deliveries" }).locator("tbody tr");
  await expect(rows).toHaveCount(3);
  await expect(rows.nth(1)).toContainText("filtered");
  await rows
    .first()
    .getByRole("link", { name: /^Delivery/ })
    .click();
  const signature = page.getByRole("dialog", { name: "Delivery" }).getByRole("region", { name: "Signature" });
  await expect(signature).toContainText("The body was parsed and written again on its way.");
  await expectAccessible(page, "a rejected signature");
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Rotate the secret" }).click();
  const rotation = page.getByRole("dialog", { name: "Rotate the signing secret" });
  await expect(rotation.getByRole("link", { name: "Where to click" })).toHaveAttribute("target", "_blank");
  await rotation.getByRole("button", { name: "Save secret" }).click();
  await expect(rotation).toContainText("Enter the sender's secret.");
  await expectAccessible(page, "a secret that the sender creates");
  await rotation.getByLabel("The sender's secret").fill("whsec_rotated");
  await rotation.getByLabel("Earlier secrets").selectOption("Immediately");
  await rotation.getByRole("button", { name: "Save secret" }).click();
  await expect(rotation).toBeHidden();
  expect(await send('{"id":"evt_4","type":"charge.refunded"}')).toMatchObject({ code: "invalid_signature" });
  secret = "whsec_rotated";
  expect(await send('{"id":"evt_5","type":"charge.refunded"}')).toMatchObject({ success: true });
});

test("the dialogs are accessible in both themes and on a phone", async ({
  ownerPage: page,
  organization,
}) => {
  test.setTimeout(150_000);
  const form = await openForm(page);
  await form.getByLabel("Starts").selectOption("Helper");
  await fillEditor(editor(form, "Message template"), "{{ body.id }}");
  await form.getByText("Preview", { exact: true }).click();
  await form.getByLabel("Use the sender's").check();
  await form.getByRole("button", { name: "Create trigger" }).click();
  await expect(form).toContainText("Enter the sender's secret.");
  await expectAccessible(page, "the form of a trigger");

  await page.goto(`/triggers/${organization.triggerIds.doubles}`);
  const dialogs = {
    "Rotate the secret": "Rotate the signing secret",
    "Replace the address": /^Replace the address of/,
    Delete: /^Delete /,
  };
  for (const [item, name] of Object.entries(dialogs)) {
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: item }).click();
    await expect(page.getByRole("dialog", { name })).toBeVisible();
    await expectAccessible(page, item);
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
  }
  await page.getByRole("button", { name: "Send a test call" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Send" }).click();
  await expect(page.getByRole("dialog")).toContainText("with status");
  await expectAccessible(page, "a test call");
});
