import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures";

async function fillIn(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("who asks for a page signed out is led back to it", async ({ page, organization }) => {
  const asked = `/runs?status=Failed&agent=${organization.agentId}`;
  await page.goto(asked);
  await expect(page).toHaveURL(/\/sign-in\?to=/);
  await fillIn(page, organization.owner);
  await expect(page).toHaveURL(asked);
  await expect(page.getByRole("heading", { name: "Runs" })).toBeVisible();
  // Signed in already, the same address leads straight on.
  await page.goto(`/sign-in?to=${encodeURIComponent("/credits?kind=charge")}`);
  await expect(page).toHaveURL("/credits?kind=charge");
});

test("nobody is led to another site", async ({ page, organization }) => {
  await page.goto(`/sign-in?to=${encodeURIComponent("//evil.test/runs")}`);
  await fillIn(page, organization.owner);
  await expect(page).toHaveURL("/runs");
});

test.describe("without scripts", () => {
  test.use({ javaScriptEnabled: false });

  test("signing in works, tells what was wrong, and leads back", async ({ page, organization }) => {
    const asked = `/triggers/${organization.triggerIds.inbound}?outcome=rejected`;
    await page.goto(asked);
    await fillIn(page, { ...organization.owner, password: "wrong-password" });
    await expect(page.getByText("This email and password do not go together.")).toBeVisible();
    await fillIn(page, organization.owner);
    await expect(page).toHaveURL(asked);
    await expect(page.getByRole("heading", { name: "inbound" })).toBeVisible();
  });
});

test("a form of another site signs nobody in, and a door without a form leads back", async ({
  request,
  organization,
}) => {
  const form = { ...organization.owner, to: "//evil.test/" };
  const foreign = await request.post("/api/sign-in", {
    form,
    headers: { origin: "https://evil.test" },
    maxRedirects: 0,
  });
  expect(foreign.status()).toBe(303);
  expect(foreign.headers().location).toBe("/sign-in?problem=address&to=%2Fruns");
  expect(foreign.headers()["set-cookie"]).toBeUndefined();
  const empty = await request.post("/api/sign-in", { maxRedirects: 0 });
  expect(empty.headers().location).toBe("/sign-in?problem=address");
});

test("a page whose session has ended leads back in", async ({ ownerPage: page, organization }) => {
  // Asking for a page leads there at once, asking for rows offers it.
  await page.goto("/metrics");
  await page.context().clearCookies();
  await page.getByRole("button", { name: "7 days" }).click();
  await expect(page).toHaveURL(/\/sign-in\?to=/);
  await fillIn(page, organization.owner);
  await expect(page).toHaveURL("/metrics?period=7d");

  await page.goto("/credits");
  await page.context().clearCookies();
  await page.getByRole("link", { name: "grant" }).click();
  const problem = page.getByRole("alert").filter({ hasText: "The ledger could not be read" });
  await problem.getByRole("link", { name: "Sign in" }).click();
  await fillIn(page, organization.owner);
  await expect(page).toHaveURL("/credits?kind=grant");
});
