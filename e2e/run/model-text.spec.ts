import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { APIRequestContext, Page } from "@playwright/test";
import { type ModelServer, startModelServer } from "@/testing/servers/model-server";
import { startThrowawayService, type ThrowawayService } from "@/testing/services/throwaway-service";
import { expectAccessible } from "../support/axe";
import { expect, signIn, test } from "../support/fixtures";

let models: ModelServer;
let service: ThrowawayService;
const providers = join(tmpdir(), `stepwell-e2e-providers-${process.pid}.yaml`);
test.describe.configure({ mode: "serial" });
test.beforeAll(async () => {
  test.setTimeout(120_000);
  models = await startModelServer();
  await writeFile(
    providers,
    `- { name: small, baseUrl: "${models.url}", models: [{ name: tiny, contextWindow: 4500 }] }`,
  );
  const env = { OPENAI_BASE_URL: models.url, OPENAI_API_KEY: "sk-e2e", MODEL_PROVIDERS: providers };
  service = await startThrowawayService({ env });
});
test.afterAll(async () => {
  await service.remove();
  await models.close();
  await rm(providers);
});

async function start(
  request: APIRequestContext,
  userMessage: string,
  agent = service.agent,
): Promise<string> {
  const answer = await request.post(`${service.base}/v1/agents/run/${agent}`, {
    headers: { "X-API-Key": service.key },
    data: { userMessage },
  });
  expect(answer.status(), await answer.text()).toBe(200);
  return (await answer.json()).id;
}

async function saveAgent(page: Page, definition: object): Promise<string> {
  const saved = await page.request.post(`${service.base}/api/trpc/definitions.saveAgent`, {
    headers: { "sec-fetch-site": "same-origin" },
    data: { definition, expected: { only: "create" } },
  });
  expect(saved.status(), await saved.text()).toBe(200);
  return (await saved.json()).result.data.id;
}

test("a model's text appears as it is written, and stays after the end", async ({ page, request }) => {
  let resume = () => {};
  const beforeLast = new Promise<void>((resolve) => {
    resume = resolve;
  });
  const pieces = ["The sum of it ", "is nine ", "sixty."];
  models.script("Add it up", { content: pieces.join(""), pieces, beforeLast });
  const id = await start(request, "Add it up");
  await signIn(page, service.login, service.base);
  await page.goto(`${service.base}/runs/${id}`);
  const call = page.getByRole("region", { name: "Model call think-1" });
  await expect(call).toContainText("The sum of it is nine");
  await expect(call).toContainText("Running");
  resume();
  await expect(call).toContainText("The sum of it is nine sixty.");
  await expect(call).toContainText("Completed");
});

test("only the run's own call writes its answer, and a long one says how much came", async ({
  page,
  request,
}) => {
  await signIn(page, service.login, service.base);
  const agent = await saveAgent(page, {
    slug: "writer",
    name: "Writer",
    model: "gpt-5-mini",
    functions: ["generate_text"],
  });
  const resume: (() => void)[] = [];
  const beforeLast = () => new Promise<void>((resolve) => void resume.push(resolve));
  models.script("Draft a line", { pieces: ["A draft ", "of it."], beforeLast: beforeLast() });
  models.script(
    "Write it",
    { calls: [{ name: "generate_text", arguments: { prompt: "Draft a line" } }] },
    { pieces: ["Once upon a time. ".repeat(2_000), "The end."], beforeLast: beforeLast() },
  );
  const id = await start(request, "Write it", agent);
  await page.goto(`${service.base}/runs/${id}`);
  const answer = page.getByRole("region", { name: "Answer" });
  await expect(page.getByRole("region", { name: /^Model call .*\// })).toContainText("A draft");
  await expect(answer).toContainText("Nothing yet");
  resume[0]?.();
  await expect(answer).toContainText("Once upon a time.");
  await expect(answer).toContainText(/… 3\d(\.\d)? KiB so far/);
  resume[1]?.();
  await expect(answer).not.toContainText("so far");
});

test("input tokens from the provider's cache are shown on the run and in the ledger", async ({
  page,
  request,
}) => {
  const reported = {
    prompt_tokens: 2000,
    completion_tokens: 100,
    prompt_tokens_details: { cached_tokens: 1500 },
  };
  models.script("From the cache", { content: "Read.", reported });
  const id = await start(request, "From the cache");
  await signIn(page, service.login, service.base);
  await page.goto(`${service.base}/runs/${id}`);
  await expect(page.getByRole("region", { name: "Facts" })).toContainText("1,500 cached");
  await expect(page.getByRole("region", { name: "Model call think-1" })).toContainText("Cached input");
  await expectAccessible(page, "a run with cached tokens");
  await page.goto(`${service.base}/credits?kind=charge`);
  const charge = page.getByRole("table", { name: "Ledger" }).locator("tbody tr", {
    has: page.locator(`a[href="/runs/${id}"]`),
  });
  await expect(charge).toContainText("1,500 cached of 2,100");
  await expectAccessible(page, "a charge with cached tokens");
});

test("a call of which older outputs were shortened shows what was sent", async ({ page, request }) => {
  await signIn(page, service.login, service.base);
  const agent = await saveAgent(page, {
    slug: "narrow",
    name: "Narrow",
    model: "tiny",
    functions: ["transform_json"],
  });
  // About 800 tokens each.
  const asks = (word: string) => ({
    calls: [{ name: "transform_json", arguments: { value: [], expression: `$join([1..800].("${word} "))` } }],
  });
  models.script("Read it all", ...["one", "two", "three", "four", "five"].map(asks), { content: "Done." });
  const id = await start(request, "Read it all", agent);
  await page.goto(`${service.base}/runs/${id}?call=think-6`);
  await expect(page.getByRole("region", { name: "Answer" })).toContainText("Done.");
  const call = page.getByRole("region", { name: "Model call think-6" });
  await call.getByRole("tab", { name: /^Attempts/ }).click();
  await expect(call).toContainText("were shortened from");
  await call.getByRole("tab", { name: "Prompt" }).click();
  await call
    .getByRole("button", { name: /^Show \d+ messages of earlier calls, \d of them shortened$/ })
    .click();
  await expect(call.getByText(/^shortened to/).first()).toBeVisible();
  await expectAccessible(page, "a shortened request");
});

test("SIGTERM to npm ends the service and its database, and frees the port", () =>
  service.expectToEnd("SIGTERM"));
