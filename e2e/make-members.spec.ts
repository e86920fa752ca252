import { expectNoFaultsAnywhere } from "./axe";
import { DOMAIN, expect, signIn, test } from "./fixtures";

/** Adding, changing and removing members. */

const unique = () => `${Date.now().toString(36)}${test.info().workerIndex}@${DOMAIN}`;

test("a new member signs in with the generated password until removed", async ({
  ownerPage: page,
  browser,
  organization,
}) => {
  const email = unique();
  await page.goto("/members");
  await page.getByRole("button", { name: "Add member" }).click();
  const form = page.getByRole("dialog", { name: "Add a member" });
  await form.getByRole("button", { name: "Add member" }).click();
  await expect(form).toContainText("Email must be an email address.");
  await form.getByLabel("Email").fill(organization.viewer.email);
  await form.getByRole("button", { name: "Add member" }).click();
  await expect(form).toContainText("is already a member, with the role viewer");
  await form.getByLabel("Email").fill(email);
  await form.getByLabel("Name").fill(`New ${email}`);
  await form.getByLabel("Role").selectOption("viewer");
  await form.getByRole("button", { name: "Add member" }).click();
  const created = page.getByRole("dialog", { name: `${email} is a member` });
  const password =
    (await created.getByRole("region", { name: "Password" }).locator("code").textContent()) ?? "";
  await created.getByRole("button", { name: "Done" }).click();

  const { baseURL } = test.info().project.use;
  const context = await browser.newContext(baseURL === undefined ? {} : { baseURL });
  const theirs = await context.newPage();
  await signIn(theirs, { email, password });
  await expect(theirs.getByRole("heading", { name: "Runs" })).toBeVisible();

  const act = async (name: string) => {
    await page.getByRole("button", { name: `Actions for New ${email}` }).click();
    await page.getByRole("menuitem", { name }).click();
  };
  const row = page.getByRole("row").filter({ hasText: email });
  await act("Change role");
  await page.getByRole("dialog").getByLabel("Role").selectOption("member");
  await page.getByRole("dialog").getByRole("button", { name: "Change role" }).click();
  await expect(row.getByRole("cell", { name: "member", exact: true })).toBeVisible();
  await act("Remove from the organization");
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await expect(row).toHaveCount(0);
  await theirs.goto("/runs");
  await expect(theirs).toHaveURL(/no-organization/);
  await context.close();
});

test("the last owner is told why nothing can be changed", async ({ ownerPage: page, organization }) => {
  await page.goto("/members");
  await expect(page.getByRole("row").filter({ hasText: organization.owner.email })).toContainText("(you)");
  await page.getByRole("button", { name: "Actions for ada" }).click();
  await expect(page.getByText("The last owner stays. Make another member owner first.")).toBeVisible();
  await expect(page.getByRole("menuitem", { name: "Change role" })).toBeDisabled();
});

test("a viewer is told who changes members and sees no action", async ({ viewerPage: page }) => {
  await page.goto("/members");
  await expect(page.getByText("Admins and owners add and change members.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Add member" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: /^Actions for/ })).toHaveCount(0);
});

test("the dialogs are accessible in both themes and on a phone", async ({ ownerPage: page }) => {
  test.setTimeout(120_000);
  const email = unique();
  await page.goto("/members");
  await page.getByRole("button", { name: "Add member" }).click();
  const form = page.getByRole("dialog", { name: "Add a member" });
  await form.getByRole("button", { name: "Add member" }).click();
  await expect(form).toContainText("Email must be an email address.");
  await expectNoFaultsAnywhere(page, "the form of a member");
  await form.getByLabel("Email").fill(email);
  await form.getByRole("button", { name: "Add member" }).click();
  await expect(page.getByRole("dialog", { name: `${email} is a member` })).toBeVisible();
  await expectNoFaultsAnywhere(page, "a new account");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: `Actions for ${email.split("@")[0]}` }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await expect(page.getByRole("dialog", { name: /^Remove/ })).toBeVisible();
  await expectNoFaultsAnywhere(page, "removing a member");
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
});
