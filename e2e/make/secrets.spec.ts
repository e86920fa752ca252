import { expectAccessible } from "@/e2e/support/axe";
import { expect, test } from "@/e2e/support/fixtures";

const unique = (name: string) => `${name}_${Date.now().toString(36)}${test.info().workerIndex}`;
const VALUE = "a value that nobody reads";

test("a secret is created, changed, used by a tool and removed, and never shown", async ({
  ownerPage: page,
}) => {
  const name = unique("github");
  await page.goto("/secrets");
  await page.getByRole("button", { name: "New secret" }).first().click();
  const form = page.getByRole("dialog", { name: "New secret" });
  await form.getByLabel("Name").fill(name);
  await form.getByLabel("Value").fill(VALUE);
  await form.getByLabel("Allowed hosts").fill("api.github.com\nuploads.github.com");
  await form.getByLabel("Expires").selectOption("In 90 days");
  await form.getByRole("button", { name: "Create secret" }).click();
  const created = page.getByRole("dialog", { name: `Secret ${name} created` });
  await expect(created).toContainText(`{{ secrets.${name} }}`);
  await created.getByRole("button", { name: "Done" }).click();

  const row = page.getByRole("row").filter({ hasText: name });
  await expect(row).toContainText("api.github.com, uploads.github.com");
  await expect(row).toContainText("Never used");
  const act = async (item: string) => {
    await row.getByRole("button", { name: `Actions for ${name}` }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  const replace = page.getByRole("dialog", { name: `Replace the value of ${name}` });
  const expires = replace.getByLabel("Expires").locator("option:checked");
  await act("Replace the value");
  await expect(expires).toContainText("Unchanged");
  await replace.getByRole("button", { name: "Cancel" }).click();
  await act("Edit hosts and expiry");
  const edit = page.getByRole("dialog", { name: `Edit ${name}` });
  await expect(edit.getByLabel("Expires").locator("option:checked")).toContainText("Unchanged");
  await edit.getByLabel("Allowed hosts").fill("api.github.com");
  await edit.getByLabel("Expires").selectOption("Never");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(edit).toBeHidden();
  await expect(row.getByRole("cell", { name: "Never", exact: true })).toBeVisible();
  await expect(row).not.toContainText("uploads.github.com");

  await act("Edit hosts and expiry");
  await edit.getByLabel("Allowed hosts").fill("api.github.com\nghe.acme.test");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Set the value again to confirm ghe.acme.test.")).toBeVisible();
  const waiting = page
    .getByRole("list", { name: "Hosts that wait" })
    .getByRole("listitem")
    .filter({ hasText: name });
  await expect(waiting).toContainText(`${name} is not sent to ghe.acme.test yet.`);
  await expect(row).toContainText("1 host waits");
  await expectAccessible(page, "a host that waits");
  await waiting.getByRole("button", { name: `Set the value of ${name}` }).click();
  await expect(replace).toContainText("This confirms ghe.acme.test.");
  await expect(expires).toHaveText("Never");
  await replace.getByLabel("Value").fill(`${VALUE} 2`);
  const changed = await page.request.post("/api/trpc/secrets.changeRules", {
    headers: { "sec-fetch-site": "same-origin" },
    data: { name, hosts: ["api.github.com", "evil.test"], expiresAt: "2030-01-15T12:00:00Z", replaces: {} },
  });
  expect(changed.status(), await changed.text()).toBe(200);
  await replace.getByRole("button", { name: "Replace value" }).click();
  await expect(replace.getByRole("alert")).toContainText("Somebody changed this secret since you opened it");
  await expect(replace).toContainText("It may be sent to api.github.com, evil.test.");
  await expect(replace).toContainText("This confirms evil.test.");
  await expect(expires).toHaveText(/^Unchanged: .*2030/);
  await expectAccessible(page, "other hosts than the dialog showed");
  await expect(replace.getByLabel("Value")).toHaveValue(`${VALUE} 2`);
  await replace.getByRole("button", { name: "Replace value" }).click();
  await expect(replace).toBeHidden();
  await expect(waiting).toHaveCount(0);
  await expect(row.getByRole("cell", { name: /2030/ })).toBeVisible();
  expect(await page.content()).not.toContain(VALUE);

  const yaml = `{ slug: ${name.replaceAll("_", "-")}, name: ${name} tool, parameters: { type: object }, steps: [
    { id: call, uses: http_request, with: { url: "https://api.github.com/", headers: { token: "{{ secrets.${name} }}" } } }] }`;
  const saved = await page.request.post("/api/trpc/definitions.saveTool", {
    headers: { "sec-fetch-site": "same-origin" },
    data: { yaml, expected: { only: "create" } },
  });
  expect(saved.status(), await saved.text()).toBe(200);
  await act("Remove");
  const removal = page.getByRole("dialog", { name: `Remove ${name}` });
  await expect(removal).toContainText("1 tool uses it.");
  await expect(removal.getByRole("link", { name: `${name} tool` })).toBeVisible();
  await expectAccessible(page, "removing a secret");
  await removal.getByRole("button", { name: "Remove secret" }).click();
  await expect(removal).toBeHidden();
  await expect(row).toHaveCount(0);
});

test("errors appear at their fields, and name the wrong host", async ({ ownerPage: page }) => {
  await page.goto("/secrets");
  await page.getByRole("button", { name: "New secret" }).first().click();
  const form = page.getByRole("dialog", { name: "New secret" });
  await form.getByLabel("Name").fill("my-secret");
  await form.getByLabel("Value").fill("short");
  await form.getByLabel("Allowed hosts").fill("api.github.com\nhttps://b.test");
  await form.getByRole("button", { name: "Create secret" }).click();
  await expect(form).toContainText("Name must be 1 to 64 letters, digits and _");
  await expect(form).toContainText("Value must have at least 8 characters");
  await expect(form).toContainText("https://b.test must be a host such as api.example.com");
  await expect(form.getByLabel("Name")).toBeFocused();
  await expectAccessible(page, "the form of a secret");
});

test("a viewer sees who changes secrets, and no action", async ({ viewerPage: page }) => {
  await page.goto("/secrets");
  await expect(page.getByText("Admins and owners create and change secrets.")).toBeVisible();
  await expect(page.getByRole("button", { name: "New secret" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: /^Actions for/ })).toHaveCount(0);
});
