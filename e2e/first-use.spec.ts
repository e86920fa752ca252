import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectNoFaultsAnywhere } from "./axe";
import { expect, signIn, test } from "./fixtures";

/** The way of a new organization to its first completed run. */

/** Declares an organization of the test's own, with the operator's command line. */
function apply(slug: string, agents: string): void {
  const folder = process.env.STEPWELL_E2E_DATA ?? "";
  const file = join(folder, `${slug}.yaml`);
  const members = `[{ email: ${slug}@e2e.test, password: correct-horse-battery, role: owner }]`;
  writeFileSync(
    file,
    `organizations:\n  - { slug: ${slug}, name: First, credits: 100, members: ${members}, agents: ${agents} }`,
  );
  const env = { ...process.env, STEPWELL_DATA_DIR: folder };
  execFileSync(process.execPath, ["scripts/stepwell.mjs", "apply", file], { env });
}

test("the start page leads from an empty organization to a completed run", async ({ page }) => {
  test.setTimeout(120_000);
  const slug = `first-${Date.now().toString(36)}${test.info().workerIndex}`;
  apply(slug, "[]");
  await signIn(page, { email: `${slug}@e2e.test`, password: "correct-horse-battery" });
  await page.goto("/");
  const step = (title: string) =>
    page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });
  await expect(step("A model")).toContainText("demo model");
  await expect(page.getByRole("heading", { name: "An agent, to do" })).toBeVisible();
  await expectNoFaultsAnywhere(page, "the first steps without an agent");
  await step("An agent").getByRole("link", { name: "New agent" }).click();
  await page.waitForURL("**/agents/new");

  apply(slug, "[{ slug: helper, name: Helper, model: demo, functions: [calculate] }]");
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "An agent, done" })).toBeVisible();
  await step("A first run").getByLabel("Message").fill("What is 12 * 3.5?");
  await step("A first run").getByRole("button", { name: /^Run/ }).click();
  await expect(step("A first run").getByText("The first run has completed.")).toBeVisible();
  await expectNoFaultsAnywhere(page, "the first steps, done");
  await step("A first run").getByRole("link", { name: "See all runs" }).click();
  await page.waitForURL("**/runs");
  await page.goto("/");
  await page.waitForURL("**/runs");
});
