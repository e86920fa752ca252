import type { Page } from "@playwright/test";
import { cancelRun } from "../support/cancel";
import { expect, signIn, test } from "../support/fixtures";
import { startRun } from "../support/start";

async function fillIn(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("a page requested while signed out opens after sign-in", async ({ page, organization }) => {
  const asked = `/runs?status=Failed&agent=${organization.agentId}`;
  await page.goto(asked);
  await expect(page).toHaveURL(/\/sign-in\?to=/);
  await fillIn(page, organization.owner);
  await expect(page).toHaveURL(asked);
  await expect(page.getByRole("heading", { name: "Runs" })).toBeVisible();
  // With a session, the same URL redirects immediately.
  await page.goto(`/sign-in?to=${encodeURIComponent("/credits?kind=charge")}`);
  await expect(page).toHaveURL("/credits?kind=charge");
});

test("sign-in never redirects to another site", async ({ page, organization }) => {
  await page.goto(`/sign-in?to=${encodeURIComponent("//evil.test/runs")}`);
  await fillIn(page, organization.owner);
  // The start page, or the runs if one has completed.
  await expect(page).toHaveURL(/^http:\/\/[^/]+\/(runs)?$/);
});

test.describe("without scripts", () => {
  test.use({ javaScriptEnabled: false });

  test("sign-in works, explains errors, and returns to the page", async ({ page, organization }) => {
    const asked = `/triggers/${organization.triggerIds.inbound}?outcome=rejected`;
    await page.goto(asked);
    await fillIn(page, { ...organization.owner, password: "wrong-password" });
    await expect(page.getByText("Wrong email or password.")).toBeVisible();
    await fillIn(page, organization.owner);
    await expect(page).toHaveURL(asked);
    await expect(page.getByRole("heading", { name: "inbound" })).toBeVisible();
  });

  test("a password that is too long is explained, and the page to return to is kept", async ({
    page,
    organization,
  }) => {
    await page.goto("/credits");
    await fillIn(page, { ...organization.owner, password: "x".repeat(20_000) });
    await expect(page.getByRole("alert")).toContainText("The email or password is too long.");
    await fillIn(page, organization.owner);
    await expect(page).toHaveURL("/credits");
  });
});

test("a password that is too long is explained", async ({ page, organization }) => {
  await page.goto("/sign-in");
  await fillIn(page, { ...organization.owner, password: "x".repeat(20_000) });
  await expect(
    page.getByRole("alert").filter({ hasText: "The email or password is too long." }),
  ).toBeVisible();
});

test("a form of another site cannot sign in, and opening the form's address returns to sign-in", async ({
  request,
  organization,
}) => {
  const foreign = await request.post("/api/sign-in?to=//evil.test/", {
    form: organization.owner,
    headers: { origin: "https://evil.test" },
    maxRedirects: 0,
  });
  expect(foreign.status()).toBe(303);
  expect(foreign.headers().location).toBe("/sign-in?problem=address&to=%2F");
  expect(foreign.headers()["set-cookie"]).toBeUndefined();
  const empty = await request.post("/api/sign-in", { maxRedirects: 0 });
  expect(empty.headers().location).toBe("/sign-in?problem=address");
});

test("a page whose session has ended returns after sign-in", async ({
  freshOwnerPage: page,
  organization,
}) => {
  // A page request redirects to the sign-in page; a data request offers a link.
  await page.goto("/metrics");
  await page.context().clearCookies();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Tools" }).click();
  await expect(page).toHaveURL(/\/sign-in\?to=/);
  await fillIn(page, organization.owner);
  await expect(page).toHaveURL("/tools");

  await page.goto("/credits");
  await page.context().clearCookies();
  await page.getByRole("link", { name: "grant" }).click();
  const problem = page.getByRole("alert").filter({ hasText: "Could not load entries" });
  await problem.getByRole("link", { name: "Sign in" }).click();
  await fillIn(page, organization.owner);
  await expect(page).toHaveURL("/credits?kind=grant");
});

test.describe("an open page whose session has ended", () => {
  async function signOutElsewhere(page: Page, baseURL: string | undefined): Promise<void> {
    const headers = { origin: baseURL ?? "" };
    expect((await page.request.post("/api/auth/sign-out", { headers, data: {} })).status()).toBe(200);
  }
  const barOf = (page: Page) => page.getByRole("alert").filter({ hasText: "You have been signed out" });
  // A live stream ends at the next heartbeat, every 15 s.
  const HEARD = { timeout: 45_000 };

  test("is reported, opens no further stream, and ends after sign-in", async ({
    freshOwnerPage: page,
    organization,
    baseURL,
  }) => {
    await page.clock.install();
    let attempts = 0;
    page.on("request", (opened) => {
      if (opened.resourceType() === "eventsource") attempts += 1;
    });
    // The stream got no slot: the page tries again from time to time.
    await page.route("**/api/live/**", (route) => route.fulfill({ status: 429, json: {} }));
    await page.goto("/runs?status=Failed");
    await expect.poll(() => attempts).toBe(1);
    await signOutElsewhere(page, baseURL);
    await page.unroute("**/api/live/**");
    await page.clock.fastForward("00:30");
    await expect(barOf(page)).toBeVisible();
    // A due attempt would be made now, before a later call.
    const before = attempts;
    await page.clock.fastForward("05:00");
    await page.evaluate(() => fetch("/api/health").then((response) => response.text()));
    expect(attempts).toBe(before);
    await barOf(page).getByRole("link", { name: "Sign in again" }).click();
    await fillIn(page, organization.owner);
    await expect(page).toHaveURL("/runs?status=Failed");
    await expect(barOf(page)).toHaveCount(0);
  });

  test("continues after signing in again in another tab", async ({
    freshOwnerPage: page,
    organization,
    request,
    baseURL,
  }) => {
    const counter = { tool: organization.counterId, input: { to: 1000 } };
    const runId = await startRun(request, organization, counter);
    await page.goto(`/runs/${runId}?step=1`);
    await signOutElsewhere(page, baseURL);
    await expect(barOf(page)).toBeVisible(HEARD);
    await expect(barOf(page).getByRole("link")).toHaveAttribute(
      "href",
      `/sign-in?to=${encodeURIComponent(`/runs/${runId}?step=1`)}`,
    );
    const other = await page.context().newPage();
    await signIn(other, organization.owner);
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await expect(barOf(page)).toHaveCount(0);
    await other.close();
    await cancelRun(page);
    await expect(page.locator("header")).toContainText(/Cancelled|Completed/, { timeout: 30_000 });
  });
});

test("redirects to sign-in, explains a wrong password, and opens the runs after the right one", async ({
  page,
  organization,
}) => {
  await page.goto("/runs");
  await expect(page).toHaveURL(/\/sign-in/);
  await page.getByLabel("Email").fill(organization.owner.email);
  await page.getByLabel("Password").fill("wrong-password");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByText("Wrong email or password.")).toBeVisible();
  await page.getByLabel("Password").fill(organization.owner.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { name: "Runs" })).toBeVisible();
});

test("sign-out ends the session", async ({ freshOwnerPage: page }) => {
  await page.goto("/runs");
  await page.getByRole("button", { name: /^Signed in as/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in");
  await page.goto("/runs");
  await expect(page).toHaveURL(/\/sign-in/);
});
