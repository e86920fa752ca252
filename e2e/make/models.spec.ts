import type { Page } from "@playwright/test";
import { expectAccessible } from "@/e2e/support/axe";
import { expect, openSession, test } from "@/e2e/support/fixtures";
import { createOwnOrganization } from "@/e2e/support/own-organization";
import { MODEL_KEY, slowServerPort } from "@/e2e/support/slow-server";

const baseUrl = () => `http://127.0.0.1:${slowServerPort()}/v1`;
const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });

async function openForm(page: Page) {
  await page.goto("/models");
  await page.getByRole("button", { name: "New provider" }).first().click();
  const form = page.getByRole("dialog", { name: "New provider" });
  await expect(form).toBeVisible();
  return form;
}

test("a provider is added with its key, tested, used by an agent, changed and removed", async ({ page }) => {
  await openSession(page, await createOwnOrganization());
  const form = await openForm(page);
  await expect(page.getByText("No providers of your own yet")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(form).toBeHidden();
  await page.getByRole("button", { name: "OpenRouter" }).click();
  await expect(form.getByLabel("Base URL")).toHaveValue("https://openrouter.ai/api/v1");
  await expect(form.getByLabel("API key")).toBeFocused();
  await form.getByLabel("Name", { exact: true }).fill("near-by");
  await form.getByLabel("Base URL").fill(baseUrl());
  await expect(form.getByLabel("API key")).toHaveAccessibleDescription(
    new RegExp(`as the secret near_by, and sent to 127\\.0\\.0\\.1:${slowServerPort()} alone`),
  );
  await form.getByLabel("API key").fill("a wrong key");
  await form.getByLabel("Models").fill("near/large\nnear/small");
  await form.getByRole("button", { name: "Choose from its models" }).click();
  await expect(form).toContainText(/Could not load its models\. .* answered 401/);
  await form.getByLabel("Name", { exact: true }).press("Enter");

  const added = page.getByRole("dialog", { name: "Provider near-by added" });
  await added.getByRole("button", { name: "Test the connection" }).click();
  await expect(added).toContainText("The test failed.");
  await expectAccessible(page, "a failed test of a model provider");
  await added.getByRole("button", { name: "Done" }).click();

  const part = page.getByRole("region", { name: "near-by" });
  await expect(part.getByRole("row", { name: /^near\/large – 0\.1000 0\.1000 0\.4000 –$/ })).toBeVisible();
  await part.getByRole("link", { name: "near_by" }).click();
  await page.getByRole("button", { name: "Actions for near_by" }).click();
  await page.getByRole("menuitem", { name: "Replace the value" }).click();
  const value = page.getByRole("dialog", { name: "Replace the value of near_by" });
  await value.getByLabel("Value").fill(MODEL_KEY);
  await value.getByRole("button", { name: "Replace value" }).click();
  await expect(value).toBeHidden();

  await page.goto("/models");
  await part.getByRole("button", { name: "Test" }).click();
  const retest = page.getByRole("dialog", { name: "Test near-by" });
  await retest.getByLabel("Model").selectOption("near/small");
  await retest.getByRole("button", { name: "Test the connection" }).click();
  await expect(retest).toContainText(/The connection works\. near\/small answered in .*“Ready\.”/);
  await retest.getByRole("button", { name: "Done" }).click();

  await page.goto("/agents/new");
  await field(page, "Name").fill("Neighbor");
  await field(page, "Model").selectOption("near/large");
  await expect(field(page, "Model")).toHaveAccessibleDescription(/^Served by near-by\./);
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Neighbor" })).toBeVisible();
  await field(page, "Message").fill("Hello");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("region", { name: "Run Neighbor" })).toContainText("Ready.");

  await page.goto("/models");
  const act = async (item: string) => {
    await part.getByRole("button", { name: "Actions for near-by" }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  await act("Edit");
  const edit = page.getByRole("dialog", { name: "Edit near-by" });
  await expect(edit.getByLabel("Key", { exact: true })).toHaveValue("near_by");
  await edit.getByRole("button", { name: "Choose from its models" }).click();
  await edit.getByLabel("Find among 3 models").fill("near/");
  await expect(edit.getByLabel("near/tiny")).not.toBeChecked();
  await edit.getByLabel("near/tiny").check();
  await edit.getByLabel("near/small").uncheck();
  await expect(edit.getByLabel("Models", { exact: true })).toHaveValue("near/large\nnear/tiny");
  await expectAccessible(page, "choosing from the models of a provider");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(edit).toBeHidden();
  await expect(part.getByText("near/small")).toHaveCount(0);
  await expectAccessible(page, "the model providers");

  await act("Remove");
  const removal = page.getByRole("dialog", { name: "Remove near-by" });
  await expect(removal).toContainText("1 agent or tool uses it.");
  await expect(removal.getByRole("link", { name: "Neighbor" })).toBeVisible();
  await expectAccessible(page, "removing a model provider");
  await removal.getByRole("button", { name: "Remove provider" }).click();
  await expect(page.getByText("No providers of your own yet")).toBeVisible();
});

test("errors of a provider appear at their fields", async ({ ownerPage: page }) => {
  const form = await openForm(page);
  await form.getByLabel("Name", { exact: true }).fill("Near By");
  await form.getByLabel("Base URL").fill("near.test");
  await form.getByRole("button", { name: "Create provider" }).click();
  await expect(form).toContainText("Name must consist of lowercase letters, digits and hyphens.");
  await expect(form).toContainText("Base URL must be an http or https address.");
  await expect(form).toContainText("Models must have at least 1 item.");
  await expect(form.getByLabel("Name", { exact: true })).toBeFocused();
  await form.getByLabel("Name", { exact: true }).fill("near-by");
  await form.getByLabel("Base URL").fill(baseUrl());
  await form.getByLabel("Models").fill("near/large, demo");
  await form.getByRole("button", { name: "Create provider" }).click();
  await expect(form).toContainText('demo "demo" is already listed by the demo model.');
  await expectAccessible(page, "the form of a model provider");
});

test("the editor of an agent leads to the providers when none fits", async ({ ownerPage: page }) => {
  await page.goto("/agents/new");
  await field(page, "Model").selectOption("Another model");
  await page.getByRole("link", { name: "See model providers" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Model providers" })).toBeVisible();
});

test("a viewer sees who changes model providers, and no action", async ({ viewerPage: page }) => {
  await page.goto("/models");
  await expect(page.getByText("Admins and owners create and change model providers.")).toBeVisible();
  await expect(page.getByRole("region", { name: "demo" })).toContainText("The built-in simulation");
  await expect(page.getByRole("button", { name: /New provider|^Test$|^Actions for/ })).toHaveCount(0);
});
