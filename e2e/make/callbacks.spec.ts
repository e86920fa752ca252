import { expectAccessible } from "@/e2e/support/axe";
import { expect, test } from "@/e2e/support/fixtures";
import { slowServerPort } from "@/e2e/support/slow-server";
import { finishRun } from "@/e2e/support/start";

test("a callback is created, gets the end of a run, and is tested, changed and deleted", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  const name = `Shop ${Date.now().toString(36)}${test.info().workerIndex}`;
  await page.goto("/callbacks");
  await page.getByRole("button", { name: "New callback" }).first().click();
  const form = page.getByRole("dialog", { name: "New callback" });
  await form.getByLabel("Name").fill(name);
  await form.getByLabel("Address").fill("http://shop.test/hooks");
  await form.getByRole("radio", { name: "Only some" }).check();
  await form.getByRole("button", { name: "Create callback" }).click();
  await expect(
    form.getByText("Select at least one agent, tool or trigger, or enter metadata."),
  ).toBeVisible();
  await form.getByRole("checkbox", { name: "Double tool" }).check();
  await form.getByRole("button", { name: "Create callback" }).click();
  await expect(form.getByText("must begin with https://")).toBeVisible();
  await expectAccessible(page, "the form of a callback");
  await form.getByLabel("Address").fill(`http://127.0.0.1:${slowServerPort()}/1`);
  await form.getByRole("button", { name: "Create callback" }).click();
  const created = page.getByRole("dialog", { name: `Callback ${name} created` });
  await expect(created.getByText(/^whsec_/)).toBeVisible();
  await created.getByRole("link", { name: "Open the callback" }).click();
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  await expect(page.getByText("No events yet")).toBeVisible();

  await page.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByText("The test was delivered")).toBeVisible();
  await expect(page.getByRole("heading", { name: "test", level: 3 })).toBeVisible();

  await finishRun(request, organization, { tool: organization.toolId, input: { number: 2 } });
  // The event that is open stays open when a newer one comes, and when it cannot be read again.
  const newer = page.getByRole("link", { name: /run\.completed/ });
  await expect(newer).toBeVisible();
  const shown = page.getByRole("heading", { name: "test", level: 3 });
  await expect(shown).toBeVisible();
  let failures = 0;
  const deliveries = /\/api\/trpc\/[^?]*callbacks\.delivery\b/;
  await page.route(deliveries, (route) => {
    failures += 1;
    return route.abort();
  });
  // Two repetitions, then an error, then the next poll.
  await expect.poll(() => failures).toBeGreaterThan(3);
  await expect(shown).toBeVisible();
  await page.unroute(deliveries);
  await newer.click();
  await page.getByRole("tab", { name: "Payload" }).click();
  await expect(page.getByRole("tabpanel")).toContainText("outputData");
  await expectAccessible(page, "a callback with events");
  await page.getByRole("button", { name: "Redeliver now" }).click();
  await page.getByRole("tab", { name: "Attempts 2" }).click();

  // A form that was opened before somebody else disabled the callback does not enable it.
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const edit = page.getByRole("dialog", { name: `Edit ${name}` });
  await expect(edit.getByRole("checkbox", { name: "Double tool" })).toBeChecked();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole("button", { name: "More" }).click();
  await other.getByRole("menuitem", { name: "Disable" }).click();
  await expect(other.getByText(`${name} is disabled`)).toBeVisible();
  await other.close();
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(edit).toHaveCount(0);
  await page.getByRole("button", { name: "More" }).click();
  await expect(page.getByRole("menuitem", { name: "Enable" })).toBeVisible();
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Rotate the secret" }).click();
  await page.getByRole("button", { name: "Generate a secret" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Done" }).click();
  await expect(page.getByText("also signs until")).toBeVisible();

  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete callback" }).click();
  await expect(page).toHaveURL("/callbacks");
  await expect(page.getByRole("link", { name })).toHaveCount(0);
});
