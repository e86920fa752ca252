import { expectAccessible, PHONE } from "../support/axe";
import { expect, openSession, test } from "../support/fixtures";
import { createOwnOrganization } from "../support/own-organization";
import { finishRun } from "../support/start";

test("operators see the installation, and other people no such page", async ({
  ownerPage: page,
  request,
  organization,
}) => {
  await finishRun(request, organization, { agent: "What is 6 * 7?" });
  await page.goto("/runs");
  await page.getByRole("link", { name: "System Operator" }).click();
  await expect(page.getByRole("heading", { name: "System", level: 1 })).toBeVisible();
  await expect(page.getByRole("region", { name: "At a glance" })).toContainText("1 web and worker");
  await expect(page.getByRole("table", { name: "Processes" })).toContainText(/of \d+/);
  await expect(page.getByRole("table", { name: "Queue by reason" })).toContainText("Without a free slot");
  await expect(page.getByRole("table", { name: "Tables by size" })).toContainText("others");
  await expect(page.getByRole("table", { name: "Sign-ins" })).toContainText(organization.owner.email);

  const doctor = page.getByRole("region", { name: "Doctor" });
  await page.getByRole("button", { name: "Run doctor" }).click();
  await doctor.getByRole("button", { name: "Show all" }).click();
  await expect(doctor).toContainText("PostgreSQL");
  await expect(doctor.getByRole("link", { name: "Guide: Reverse proxy" })).toHaveAttribute(
    "href",
    "/docs/operating#reverse-proxy",
  );

  const job = page.getByRole("row", { name: /^Grant the month's credits/ });
  await job.getByRole("button", { name: "Run now: Grant the month's credits" }).click();
  await expect(job).toContainText("Nothing to do");
  await expect(page.getByRole("region", { name: "Maintenance" })).toContainText(
    "Frequent jobs are recorded once a minute",
  );
  await expectAccessible(page, "System");

  await page.context().clearCookies();
  await openSession(page, await createOwnOrganization());
  await page.goto("/runs");
  await expect(page.getByRole("link", { name: "Docs", exact: true })).toBeVisible();
  await expect(page.getByRole("link", { name: /^System/ })).toHaveCount(0);
  expect((await page.goto("/system"))?.status()).toBe(404);
  const rejected = await page.request.get("/api/trpc/system.status");
  expect(rejected.status()).toBe(403);
});

test.describe("on a phone", () => {
  test.use({ viewport: PHONE });
  test("names of tables are not cut", async ({ ownerPage: page }) => {
    await page.goto("/system");
    await expect(page.getByRole("table", { name: "Tables by size" })).toContainText("others");
    const names = page.getByRole("table", { name: "Tables by size" }).getByRole("rowheader");
    // The largest tables depend on the tests before.
    const cut = await names.evaluateAll((cells) => {
      const text = document.createTreeWalker(cells[0] ?? document, NodeFilter.SHOW_TEXT).nextNode();
      if (text) text.nodeValue = "callback_endpoints";
      return cells.map((cell) => [cell.textContent, cell.scrollWidth > cell.clientWidth] as const);
    });
    expect(cut.filter(([, isCut]) => isCut)).toEqual([]);
    expect(cut[0]?.[0]).toContain("callback_endpoints");
  });
});
