import { type ModelServer, startModelServer } from "@/testing/servers/model-server";
import { startThrowawayService, type ThrowawayService } from "@/testing/services/throwaway-service";
import { expect, test } from "../support/fixtures";

/** A model's output is shown while it is generated; on a service of its own with a scripted model. */

let models: ModelServer;
let service: ThrowawayService;
test.describe.configure({ mode: "serial" });
test.beforeAll(async () => {
  test.setTimeout(120_000);
  models = await startModelServer();
  service = await startThrowawayService({ env: { OPENAI_BASE_URL: models.url, OPENAI_API_KEY: "sk-e2e" } });
});
test.afterAll(async () => {
  await service.remove();
  await models.close();
});

test("a model's text appears as it is written, and stays after the end", async ({ page, request }) => {
  let resume = () => {};
  const beforeLast = new Promise<void>((resolve) => {
    resume = resolve;
  });
  const pieces = ["The sum of it ", "is nine ", "sixty."];
  models.script("Add it up", { content: pieces.join(""), pieces, beforeLast });
  const headers = { "X-API-Key": service.key };
  const data = { userMessage: "Add it up" };
  const answer = await request.post(`${service.base}/v1/agents/run/${service.agent}`, { headers, data });
  const { id } = await answer.json();

  await page.goto(`${service.base}/sign-in?to=${encodeURIComponent(`/runs/${id}`)}`);
  await page.getByLabel("Email").fill(service.login.email);
  await page.getByLabel("Password").fill(service.login.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => url.pathname !== "/sign-in");
  await page.goto(`${service.base}/runs/${id}`);
  const call = page.getByRole("region", { name: "Model call think-1" });
  await expect(call).toContainText("The sum of it is nine");
  await expect(call).toContainText("Running");
  resume();
  await expect(call).toContainText("The sum of it is nine sixty.");
  await expect(call).toContainText("Completed");
});

test("SIGTERM to npm ends the service and its database, and frees the port", () =>
  service.expectToEnd("SIGTERM"));
