import { expectAccessibleOnPhone, PHONE } from "../support/axe";
import { expect, test } from "../support/fixtures";
import { finishRun } from "../support/start";

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
    await expectAccessibleOnPhone(page, path);
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

test("the search of a list is that of its address", async ({ ownerPage: page }) => {
  await page.goto("/tools");
  const search = page.getByRole("searchbox", { name: "Search tools" });
  const counter = page.getByRole("link", { name: "Counter", exact: true });
  await search.pressSequentially(" double ");
  await expect(counter).toHaveCount(0);
  await expect(search).toHaveValue(" double ");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Tools" }).click();
  await expect(counter).toBeVisible();
  await expect(search).toHaveValue("");
});
