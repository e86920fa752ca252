import { startMailServer } from "@/testing/servers/mail-server";
import { startThrowawayService } from "@/testing/services/throwaway-service";
import { expectAccessible } from "../support/axe";
import { expect, test } from "../support/fixtures";

const PASSWORD = "correct-horse-battery";
const NEW_PASSWORD = "another-horse-battery";

test("the link of the first start leads to Get started, and one by email to a new password", async ({
  page,
}) => {
  test.setTimeout(180_000);
  const mail = await startMailServer();
  const service = await startThrowawayService({
    env: {
      STEPWELL_DEMO: "off",
      SMTP_URL: `smtp://${mail.host}`,
      SMTP_FROM: "Stepwell <no-reply@stepwell.test>",
      EGRESS_ALLOW: mail.host,
    },
  });
  try {
    const link = /\S+\/set-up#\S+/.exec(service.output)?.[0] ?? "";
    await page.goto(`${service.base}/sign-in`);
    await expect(page.getByText("There is no organization yet")).toBeVisible();
    await page.goto(link);
    await page.getByLabel("Password").fill("short");
    const create = page.getByRole("button", { name: "Create organization" });
    await page.evaluate(() => window.scrollTo(0, 0));
    await expect(create).toBeInViewport({ ratio: 1 });
    await create.click();
    await expect(page.getByText("Organization must not be empty.")).toBeVisible();
    expect(page.url()).not.toContain("#");
    await expectAccessible(page, "the set-up");
    await page.getByLabel("Organization").fill("Acme");
    await page.getByLabel("Your name").fill("Ada");
    await page.getByLabel("Email").fill("ada@acme.test");
    await page.getByLabel("Password").fill(PASSWORD);
    await create.click();
    await expect(page.getByRole("heading", { name: "Get started" })).toBeVisible();
    for (const path of ["agents", "tools", "runs", "credits"]) {
      await page.goto(`${service.base}/${path}`);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await expect(page.getByText(/npm run|curl /)).toHaveCount(0);
    }
    await page.goto(link);
    await expect(page.getByRole("heading", { name: "This link cannot be opened" })).toBeVisible();

    await page.context().clearCookies();
    await page.goto(`${service.base}/sign-in`);
    await page.getByRole("link", { name: "Forgot your password?" }).click();
    await expect(page.getByRole("heading", { name: "Forgot your password?" })).toBeVisible();
    await page.getByLabel("Email").fill("ada@acme.test");
    await expectAccessible(page, "the request of a new password");
    await page.getByRole("button", { name: "Send link" }).click();
    await expect(page.getByText("a link is on its way")).toBeVisible();
    await expect.poll(() => mail.messages.length).toBe(1);
    const text = mail.messages[0]?.replaceAll("=\r\n", "") ?? "";
    await page.goto(/\S+\/reset-password#\S+/.exec(text)?.[0] ?? "");
    await expect(page.getByLabel("Email")).toHaveValue("ada@acme.test");
    await page.getByLabel("New password").fill(NEW_PASSWORD);
    await expectAccessible(page, "the new password");
    await page.getByRole("button", { name: "Set password and sign in" }).click();
    await expect(page.getByRole("heading", { name: "Get started" })).toBeVisible();

    // Signing in opens the first steps until a run has completed.
    await page.context().clearCookies();
    await page.goto(`${service.base}/sign-in`);
    await page.getByLabel("Email").fill("ada@acme.test");
    await page.getByLabel("Password").fill(NEW_PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("heading", { name: "Get started" })).toBeVisible();
  } finally {
    await service.remove();
    await mail.close();
  }
});
