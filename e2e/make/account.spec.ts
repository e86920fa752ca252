import { expectAccessible } from "@/e2e/support/axe";
import { expect, newContext, openSession, test } from "@/e2e/support/fixtures";
import { createOwnOrganization } from "@/e2e/support/own-organization";

test("the password is changed, and other sessions are signed out", async ({ page, browser }) => {
  test.setTimeout(120_000);
  const pat = await createOwnOrganization();
  const context = await newContext(browser, { userAgent: FIREFOX });
  const elsewhere = await context.newPage();
  const signInElsewhere = (password: string) => openSession(context, { ...pat, password });
  await signInElsewhere(pat.password);
  await openSession(page, pat);
  await page.goto("/account");
  const row = page.getByRole("row").filter({ hasText: "Firefox on Windows" });
  await expect(row).toHaveCount(1);
  await expect(page.getByRole("row").filter({ hasText: "current" })).toHaveCount(1);
  await row.getByRole("button", { name: "Sign out Firefox on Windows" }).click();
  await expect(row).toHaveCount(0);
  await expect(page.getByRole("region", { name: "Your organizations" })).toContainText("Owner");
  await elsewhere.goto("/runs");
  await expect(elsewhere).toHaveURL(/sign-in/);

  await signInElsewhere(pat.password);
  await page.reload();
  await expect(row).toHaveCount(1);
  await page.getByRole("button", { name: "Sign out all others" }).click();
  await expect(row).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Sign out all others" })).toHaveCount(0);
  await elsewhere.goto("/runs");
  await expect(elsewhere).toHaveURL(/sign-in/);

  await signInElsewhere(pat.password);
  await page.getByRole("button", { name: "Change password" }).click();
  const form = page.getByRole("dialog", { name: "Change your password" });
  const submit = form.getByRole("button", { name: "Change password" });
  await form.getByLabel("Current password").fill("wrong-password");
  await form.getByLabel("New password").fill("short");
  await submit.click();
  await expect(form).toContainText("The new password must have at least 8 characters.");
  await form.getByLabel("New password").fill("another-horse-battery");
  await submit.click();
  await expect(form).toContainText("The current password is wrong.");
  await expectAccessible(page, "the form of a password");
  await form.getByLabel("Current password").fill(pat.password);
  await submit.click();
  await expect(form).toBeHidden();
  await elsewhere.goto("/runs");
  await expect(elsewhere).toHaveURL(/sign-in/);
  await signInElsewhere("another-horse-battery");
  await elsewhere.goto("/runs");
  await expect(elsewhere.getByRole("heading", { name: "Runs" })).toBeVisible();
  await context.close();
});

const FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0";

test("theme and time zone apply immediately and stay", async ({ ownerPage: page }) => {
  await page.goto("/account");
  await page.getByRole("button", { name: "Dark", exact: true }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.getByLabel("Time zone", { exact: true }).selectOption("Asia/Tokyo");
  await expect(page.getByText("in Asia/Tokyo.")).toBeVisible();
  await page.goto("/account");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expect(page.getByRole("button", { name: "Dark", exact: true })).toHaveAttribute(
    "aria-pressed",
    "true",
  );
  await expect(page.getByText("in Asia/Tokyo.")).toBeVisible();
  await page.goto("/keys");
  await expect(page.locator("time").first()).toHaveAttribute("title", /Asia\/Tokyo$/);
});

test("single keys can be switched off", async ({ ownerPage: page }) => {
  const filters = page.getByRole("dialog", { name: "Filters" });
  const choose = async (label: string) => {
    await page.goto("/account");
    await page.getByRole("group", { name: "Single keys" }).getByRole("button", { name: label }).click();
    await page.goto("/runs");
    await page.keyboard.press("f");
  };
  await choose("Off");
  // Other shortcuts stay.
  await page.keyboard.press("ControlOrMeta+k");
  await expect(page.getByRole("dialog")).toHaveCount(1);
  await expect(filters).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Filter", exact: true })).toHaveAttribute("title", "Filter");
  await choose("On");
  await expect(filters).toBeVisible();
});

test("a sign-out that fails says so", async ({ freshOwnerPage: page }) => {
  await page.goto("/account");
  const signOut = page
    .getByRole("row")
    .filter({ hasText: "current" })
    .getByRole("button", { name: "Sign out" });
  await page.evaluate(() => localStorage.setItem("stepwell.draft.e2e.agent.new", "{}"));
  await page.route("**/api/auth/sign-out", (route) => route.fulfill({ status: 500, body: "" }));
  await signOut.click();
  await expect(page.getByText("You are still signed in")).toBeVisible();
  expect(await page.evaluate(() => localStorage.getItem("stepwell.draft.e2e.agent.new"))).toBe("{}");
  await page.unroute("**/api/auth/sign-out");
  await signOut.click();
  await expect(page).toHaveURL(/sign-in/);
});
