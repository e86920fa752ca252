import type { Page } from "@playwright/test";
import { expectAccessible } from "@/e2e/support/axe";
import { DOMAIN, expect, newContext, openSession, test, untilHydrated } from "@/e2e/support/fixtures";
import { createOwnOrganization } from "@/e2e/support/own-organization";

const unique = () => `${Date.now().toString(36)}${test.info().workerIndex}@${DOMAIN}`;

async function invite(page: Page, email: string, role: string): Promise<string> {
  await page.goto("/members");
  await page.getByRole("button", { name: "Invite member" }).click();
  const form = page.getByRole("dialog", { name: "Invite member" });
  await form.getByLabel("Email").fill(email);
  await form.getByLabel("Role").selectOption(role);
  await form.getByRole("button", { name: "Create link" }).click();
  const created = page.getByRole("dialog", { name: `Invite ${email}` });
  const link = (await created.getByRole("region", { name: "Link" }).locator("code").textContent()) ?? "";
  await created.getByRole("button", { name: "Done" }).click();
  const { pathname, hash } = new URL(link);
  return `${pathname}${hash}`;
}

test("an invited person makes an account by the link, and is a member until removed", async ({
  ownerPage: page,
  browser,
}) => {
  const email = unique();
  const link = await invite(page, email, "viewer");
  const open = page.getByRole("region", { name: "Open invitations" });
  await expect(open.getByRole("row").filter({ hasText: email })).toContainText("Viewer");

  const context = await newContext(browser);
  const theirs = await context.newPage();
  await theirs.goto(link);
  await expect(theirs.getByRole("heading", { name: "Join Brook & Sons" })).toBeVisible();
  expect(theirs.url()).not.toContain("#");
  await expect(theirs.getByLabel("Email")).toHaveValue(email);
  const create = theirs.getByRole("button", { name: "Create account and join" });
  await theirs.getByLabel("Password").fill("short");
  await create.click();
  await expect(theirs.getByText("Name must not be empty.")).toBeVisible();
  await expect(theirs.getByText("Password must have at least 8 characters.")).toBeVisible();
  await expectAccessible(theirs, "the account of an invitation");
  await theirs.getByLabel("Name").fill(`New ${email}`);
  await theirs.getByLabel("Password").fill("correct-horse-battery");
  await create.click();
  await expect(theirs.getByRole("navigation", { name: "Main" })).toBeVisible();

  await page.goto("/members");
  await expect(open.getByRole("row").filter({ hasText: email })).toHaveCount(0);
  const act = async (name: string) => {
    await page.getByRole("button", { name: `Actions for New ${email}` }).click();
    await page.getByRole("menuitem", { name }).click();
  };
  const row = page.getByRole("row").filter({ hasText: email });
  await act("Change role");
  await page.getByRole("dialog").getByLabel("Role").selectOption("member");
  await page.getByRole("dialog").getByRole("button", { name: "Change role" }).click();
  // Rows behind an open dialog have no role.
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(row.getByRole("cell", { name: "Member", exact: true })).toBeVisible();
  await act("Remove from the organization");
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(row).toHaveCount(0);
  await theirs.goto("/runs");
  await expect(theirs).toHaveURL(/no-organization/);

  // Invited again, the account signs in and joins.
  const second = await invite(page, email, "viewer");
  await context.clearCookies();
  await theirs.goto(second);
  await theirs.getByRole("link", { name: "Sign in to join" }).click();
  await theirs.getByLabel("Email").fill(email);
  await theirs.getByLabel("Password").fill("correct-horse-battery");
  await theirs.getByRole("button", { name: "Sign in" }).click();
  await theirs.getByRole("button", { name: "Join" }).click();
  await expect(theirs.getByRole("navigation", { name: "Main" })).toBeVisible();
  await context.close();
});

test("a revoked link shows it, and another person's session does not use it", async ({
  ownerPage: page,
  browser,
  organization,
}) => {
  const email = unique();
  const link = await invite(page, email, "member");
  const context = await newContext(browser);
  await context.addCookies(await page.context().cookies());
  const theirs = await context.newPage();
  await theirs.goto(link);
  await expect(theirs.getByText(`You are signed in as ${organization.owner.email}.`)).toBeVisible();

  await page.getByRole("button", { name: `Revoke the invitation of ${email}` }).click();
  const confirmation = page.getByRole("dialog", { name: `Revoke the invitation of ${email}` });
  await expect(confirmation).toBeVisible();
  await expectAccessible(page, "revoking an invitation");
  await confirmation.getByRole("button", { name: "Revoke invitation" }).click();
  await expect(confirmation).toHaveCount(0);
  await expect(page.getByRole("row").filter({ hasText: email })).toHaveCount(0);
  // From the same page, only the fragment would change.
  await theirs.goto("/runs");
  await theirs.goto(link);
  await expect(theirs.getByRole("heading", { name: "This invitation cannot be opened" })).toBeVisible();
  await expectAccessible(theirs, "a closed invitation");
  await context.close();
});

test("a member of two organizations switches between them, and sees why it failed", async ({
  ownerPage: page,
  browser,
}) => {
  const pat = await createOwnOrganization();
  const link = await invite(page, pat.email, "viewer");
  const context = await newContext(browser);
  await openSession(context, pat);
  const theirs = await context.newPage();
  await theirs.goto(link);
  await theirs.getByRole("button", { name: "Join" }).click();
  const menu = theirs.getByRole("button", { name: /^Organization / });
  await expect(menu).toContainText("Brook & Sons");
  await untilHydrated(theirs);
  const chooseOwn = async () => {
    await menu.click();
    await theirs.getByRole("menuitemradio", { name: "Own" }).click();
  };
  await theirs.route("**/api/trpc/account.switchOrganization*", (route) => route.abort());
  await chooseOwn();
  await expect(theirs.getByText("Could not switch the organization")).toBeVisible();
  await theirs.unroute("**/api/trpc/account.switchOrganization*");
  await chooseOwn();
  await expect(menu).toContainText("Own");
  await context.close();
});

test("the last owner sees why nothing can be changed", async ({ ownerPage: page, organization }) => {
  await page.goto("/members");
  await expect(page.getByRole("row").filter({ hasText: organization.owner.email })).toContainText("(you)");
  await page.getByRole("button", { name: "Actions for ada" }).click();
  await expect(page.getByText("The last owner stays. Make another member owner first.")).toBeVisible();
  await expect(page.getByRole("menuitem", { name: "Change role" })).toBeDisabled();
});

test("a viewer sees who changes members, and no action", async ({ viewerPage: page }) => {
  await page.goto("/members");
  await expect(page.getByText("Admins and owners invite and change members.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Invite member" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: /^Actions for/ })).toHaveCount(0);
});

test("the dialogs are accessible in both themes and on a phone", async ({
  ownerPage: page,
  organization,
}) => {
  test.setTimeout(120_000);
  const email = unique();
  await page.goto("/members");
  await page.getByRole("button", { name: "Invite member" }).click();
  const form = page.getByRole("dialog", { name: "Invite member" });
  await form.getByRole("button", { name: "Create link" }).click();
  await expect(form).toContainText("Email must be an email address.");
  await form.getByLabel("Email").fill(organization.viewer.email);
  await form.getByRole("button", { name: "Create link" }).click();
  await expect(form).toContainText("is already a member, with the role viewer");
  await expectAccessible(page, "the form of an invitation");
  await form.getByLabel("Email").fill(email);
  await form.getByRole("button", { name: "Create link" }).click();
  await expect(page.getByRole("dialog", { name: `Invite ${email}` })).toBeVisible();
  await expectAccessible(page, "the link of an invitation");
  await page.getByRole("button", { name: "Done" }).click();
  await expectAccessible(page, "members with an open invitation");
  await page.getByRole("button", { name: "Actions for vic" }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await expect(page.getByRole("dialog", { name: "Remove vic" })).toBeVisible();
  await expectAccessible(page, "removing a member");
});

test("an admin or owner makes a link with which a member sets a new password", async ({ page, browser }) => {
  const owner = await createOwnOrganization();
  await openSession(page, owner);
  const email = unique();
  const link = await invite(page, email, "member");
  const context = await newContext(browser);
  const theirs = await context.newPage();
  await theirs.goto(link);
  await theirs.getByLabel("Name").fill("Kim");
  await theirs.getByLabel("Password").fill("correct-horse-battery");
  await theirs.getByRole("button", { name: "Create account and join" }).click();
  await expect(theirs.getByRole("navigation", { name: "Main" })).toBeVisible();

  await page.goto("/members");
  await page.getByRole("button", { name: "Actions for Kim" }).click();
  await page.getByRole("menuitem", { name: "New password link" }).click();
  const dialog = page.getByRole("dialog", { name: "New password for Kim" });
  await dialog.getByRole("button", { name: "Create link" }).click();
  const created = (await dialog.getByRole("region", { name: "Link" }).locator("code").textContent()) ?? "";
  await expectAccessible(page, "a link for a new password");
  const { pathname, hash } = new URL(created);
  await theirs.goto(`${pathname}${hash}`);
  await theirs.getByLabel("New password").fill("another-horse-battery");
  await theirs.getByRole("button", { name: "Set password and sign in" }).click();
  await expect(theirs.getByRole("heading", { name: "Get started" })).toBeVisible();
  await context.close();
});
