import type { Page } from "@playwright/test";
import { editor, expectText, fillEditor } from "@/e2e/support/editor";
import { expectAccessible } from "../support/axe";
import { expect, test } from "../support/fixtures";

const unique = () => `${Date.now().toString(36)}${test.info().workerIndex}`;
const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });

async function createAgent(page: Page, name: string): Promise<void> {
  await page.goto("/agents/new");
  await field(page, "Name").fill(name);
  await field(page, "Model").selectOption("demo");
  await fillEditor(editor(page, "System prompt"), "Answer in one word.");
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
}

test("a version has a note, is compared with the current one, and is returned to", async ({
  ownerPage: page,
}) => {
  const name = `Versions ${unique()}`;
  await createAgent(page, name);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await fillEditor(editor(page, "System prompt"), "Answer in a long letter.");
  await field(page, "Note").fill("Customers want letters");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();

  const versions = page.getByRole("table", { name: "Versions" });
  await expect(versions).toContainText("Customers want letters");
  await versions.getByRole("button", { name: /^v1/ }).click();
  // It opens to its difference from the current version.
  await expect(versions).toContainText("Answer in a long letter.");
  await expect(versions).toContainText("Answer in one word.");
  await expectAccessible(page, "an open version");
  // What is typed on a page that was opened directly stays when the server renders the page again.
  await page.reload();
  const message = page.getByPlaceholder(`Ask ${name} something`);
  await message.fill("Not sent yet");
  await versions.getByRole("button", { name: /^v1/ }).click();
  await versions.getByRole("button", { name: "Its definition" }).click();
  await expect(versions).not.toContainText("Answer in a long letter.");
  await versions.getByRole("button", { name: "Return to v1" }).click();
  await expect(page.getByText("Version 3 is current", { exact: true })).toBeVisible();
  await expect(versions.getByRole("button", { name: /^v3.*current/ })).toBeVisible();
  const definition = page.getByRole("region", { name: "Definition" });
  await expect(definition).toContainText("Answer in one word.");

  await page.getByRole("button", { name: "Undo" }).click();
  await expect(definition).toContainText("Answer in a long letter.");
  await expect(versions.getByRole("button", { name: /^v4.*current/ })).toBeVisible();
  await expect(message).toHaveValue("Not sent yet");
});

test("an agent is duplicated, archived, and restored in two ways", async ({ ownerPage: page }) => {
  const name = `Archive ${unique()}`;
  await createAgent(page, name);
  const more = page.getByRole("button", { name: `More for ${name}`, exact: true });
  await more.click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "New agent" })).toBeVisible();
  await expectText(editor(page, "System prompt"), "Answer in one word.");
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByRole("heading", { level: 1, name: `${name} (copy)` })).toBeVisible();

  const clickArchive = async () => {
    await page.getByRole("button", { name: /^More for/ }).click();
    await page.getByRole("menuitem", { name: "Archive" }).click();
  };
  const inAnotherTab = async (verb: "archive" | "restore") => {
    const answer = await page.request.post(`/api/trpc/definitions.${verb}`, {
      headers: { "sec-fetch-site": "same-origin" },
      data: { kind: "agent", id: page.url().split("/").at(-1) },
    });
    expect(answer.status(), await answer.text()).toBe(200);
  };
  await inAnotherTab("archive");
  await clickArchive();
  await expect(page.getByText(`Could not archive ${name} (copy)`)).toBeVisible();
  await inAnotherTab("restore");

  const archive = async () => {
    await clickArchive();
    await expect(page.getByText(`${name} (copy) is archived`)).toBeVisible();
    await expect(page.getByRole("heading", { level: 1, name: "Agents" })).toBeVisible();
  };
  const row = page.getByRole("table", { name: "Agents" }).getByRole("link", { name: `${name} (copy)` });
  await archive();
  await expect(row).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await row.click();
  await expect(page.getByRole("heading", { level: 1, name: `${name} (copy)` })).toBeVisible();

  await archive();
  await page.getByText(/^Archived agents/).click();
  await expectAccessible(page, "the archived agents");
  await page.getByRole("button", { name: `Restore ${name} (copy)` }).click();
  await expect(row).toBeVisible();
});

test("a tool is duplicated with its YAML; one in use is not archived", async ({
  ownerPage: page,
  organization,
}) => {
  await page.goto(`/tools/${organization.toolId}/copy`);
  await page
    .getByRole("list", { name: "Steps" })
    .getByRole("button", { name: /^Name and input/ })
    .click();
  await expect(field(page, "Name")).toHaveValue("Double (copy)");
  const slug = `double-${unique()}`;
  await field(page, "Slug").fill(slug);
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Double (copy)" })).toBeVisible();

  const agent = `Uses ${unique()}`;
  await page.goto("/agents/new");
  await field(page, "Name").fill(agent);
  await field(page, "Model").selectOption("demo");
  await page
    .getByRole("checkbox", { name: /^Double \(copy\)/ })
    .first()
    .check();
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByRole("heading", { level: 1, name: agent })).toBeVisible();
  await page.getByRole("link", { name: "Double (copy)" }).click();
  await page.getByRole("button", { name: "More for Double (copy)" }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  const rejection = page.getByRole("dialog", { name: "Double (copy) cannot be archived yet" });
  await expect(rejection).toContainText("1 agent uses it. Remove the tool there first.");
  await expectAccessible(page, "the rejection to archive a tool");
  await rejection.getByRole("link", { name: agent }).click();
  await expect(page.getByRole("heading", { level: 1, name: agent })).toBeVisible();
});

test("archiving an agent that a trigger starts asks first, and names the trigger", async ({
  ownerPage: page,
}) => {
  const name = `Hooked ${unique()}`;
  await createAgent(page, name);
  const slug = name.toLowerCase().replace(" ", "-");
  const saved = await page.request.post("/api/trpc/triggers.create", {
    headers: { "sec-fetch-site": "same-origin" },
    data: { slug, name: `Calls ${name}`, agent: slug, generateSecret: false },
  });
  expect(saved.status(), await saved.text()).toBe(200);
  await page.reload();
  await page.getByRole("button", { name: `More for ${name}`, exact: true }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  const dialog = page.getByRole("dialog", { name: `Archive ${name}` });
  await expect(dialog.getByRole("link", { name: `Calls ${name}` })).toBeVisible();
  await expect(dialog).toContainText("1 trigger uses it. Its calls fail until you restore it.");
  await expectAccessible(page, "archiving an agent in use");
  await dialog.getByRole("button", { name: "Archive agent" }).click();
  await expect(page.getByText(`${name} is archived`)).toBeVisible();
});
