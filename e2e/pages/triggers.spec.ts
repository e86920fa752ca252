import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { promisify } from "node:util";
import { clickAtOnce } from "../support/click-at-once";
import { editor, fillEditor } from "../support/editor";
import { expect, test } from "../support/fixtures";

const SECRET = "e2e-signing-secret";
const signed = (body: string) => ({
  "Content-Type": "application/json",
  "X-Signature": createHmac("sha256", SECRET).update(body).digest("hex"),
});

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

  // A poll leaves the button to the reader.
  const polls = /\/api\/trpc\/[^?]*triggers\.deliveries/;
  let answer = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const poll = page.waitForRequest(polls);
  await page.route(polls, (route) => mayAnswer.then(() => route.continue()));
  await poll;
  const refresh = page.getByRole("button", { name: "Refresh" });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await expect(refresh).toBeEnabled();
  await refresh.click();
  await expect(refresh).toBeDisabled();
  answer();
  await expect(refresh).toBeEnabled();
});

test("previews a message template on a delivery", async ({ ownerPage: page, request, organization }) => {
  const headers = { "Content-Type": "application/json" };
  await request.post(organization.triggers.inbound ?? "", { headers, data: { order: { id: 7 } } });
  await page.goto(`/triggers/${organization.triggerIds.inbound}?outcome=accepted`);
  await page
    .getByRole("link", { name: /^Delivery/ })
    .first()
    .click();
  await fillEditor(editor(page, "Message template"), "{{ body.( }}");
  await page.getByRole("button", { name: "Preview the message" }).click();
  await expect(page.getByText("The trigger's message template fails")).toBeVisible();
  await fillEditor(editor(page, "Message template"), "Order {{ body.order.id }}");
  await page.getByRole("button", { name: "Preview the message" }).click();
  await expect(page.getByRole("region", { name: "Message" })).toHaveText("Order 7");
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

test("an action that cannot copy says so", async ({ ownerPage: page, organization }) => {
  await page.goto(`/triggers/${organization.triggerIds.doubles}`);
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error("The browser does not allow it."));
  });
  for (const action of ["Copy the address", "Copy the call as curl"]) {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or go to" }).fill(action);
    await page.keyboard.press("Enter");
    const message = page.getByRole("group").filter({ hasText: "Nothing was copied" });
    await expect(message).toContainText("The browser does not allow it.");
    await message.getByRole("button", { name: "Dismiss" }).click();
    await expect(message).toHaveCount(0);
  }
});
