import { execFile } from "node:child_process";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type ModelServer, startModelServer } from "@/testing/model-server";
import { startTestService, type TestService } from "@/testing/service";

/** The examples that need a model, a mail server or another service: applied with the command line and run over REST. */

const ROOT = join(import.meta.dirname, "..");
let models: ModelServer;
let smtp: SMTPServer;
let inventory: Server;
let service: TestService;
const mails: string[] = [];
/** How often the inventory was asked, by article. */
const asked = new Map<string, number>();

const portOf = (server: Pick<Server, "address">) =>
  z.object({ port: z.number() }).parse(server.address()).port;

beforeAll(async () => {
  models = await startModelServer();
  inventory = createServer((request, response) => {
    const article = new URL(request.url ?? "", "http://x").searchParams.get("sku") ?? "";
    const count = (asked.get(article) ?? 0) + 1;
    asked.set(article, count);
    const fails = article === "gone" || (article === "slow" && count < 3);
    response.writeHead(fails ? 503 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ stock: article.length }));
  });
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        mails.push(Buffer.concat(chunks).toString());
        done();
      });
    },
  });
  await new Promise<void>((done) => smtp.listen(0, "127.0.0.1", done));
  await new Promise<void>((done) => inventory.listen(0, "127.0.0.1", done));
  const [smtpPort, inventoryPort] = [portOf(smtp.server), portOf(inventory)];
  service = await startTestService({
    OPENAI_BASE_URL: models.url,
    OPENAI_API_KEY: "test",
    SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
    SMTP_FROM: "Stepwell <no-reply@stepwell.test>",
    EGRESS_ALLOW: `127.0.0.1:${smtpPort},127.0.0.1:${inventoryPort}`,
  });
}, 60_000);
afterAll(async () => {
  await service.stop();
  await models.close();
  await new Promise<void>((done) => smtp.close(() => done()));
  await new Promise((done) => inventory.close(done));
});

const applied = z.object({
  organizations: z.array(
    z.object({
      slug: z.string(),
      tools: z.array(z.object({ slug: z.string(), id: z.string() })),
      agents: z.array(z.object({ slug: z.string(), id: z.string() })),
      apiKeys: z.array(z.object({ key: z.string() })),
    }),
  ),
});

/** Applies an example with the command line; returns what starts a tool or agent of it and waits for its end. */
async function apply(file: string) {
  const command = ["run", "-s", "stepwell", "--", "apply", join("examples", file), "--json"];
  const env = { ...process.env, ...service.settings, STEPWELL_ENV_FILE: "" };
  const { stdout } = await promisify(execFile)("npm", command, { cwd: ROOT, env });
  const [organization] = applied.parse(JSON.parse(stdout)).organizations;
  if (organization === undefined) throw new Error(`${file} declares no organization`);
  const key = organization.apiKeys[0]?.key ?? "";
  return async (slug: string, body: object) => {
    const target = [...organization.tools, ...organization.agents].find((each) => each.slug === slug);
    const kind = organization.tools.some((each) => each.slug === slug) ? "tools" : "agents";
    const response = await fetch(`${service.origin}/v1/${kind}/run/${target?.id}`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { id: runId } = z.object({ id: z.string() }).parse(await response.json());
    const read = () => service.services.db.run.findUniqueOrThrow({ where: { id: runId } });
    await expect.poll(async () => (await read()).finishedAt, { timeout: 30_000 }).not.toBeNull();
    const { status, output, errorMessage } = await read();
    const children = await service.services.db.run.findMany({
      where: { parentRunId: runId },
      orderBy: { createdAt: "asc" },
      select: { status: true, targetName: true, output: true },
    });
    return { runId, status, errorMessage, output: output ?? "", children };
  };
}

it("fan-out.yaml repeats what fails and lists what goes on failing", async () => {
  const run = await apply("fan-out.yaml");
  const articles = ["a", "bb", "slow", "gone", "eeeee", "ffffff"];
  const { status, errorMessage, output, children } = await run("check-stock", {
    service: `http://127.0.0.1:${portOf(inventory)}/`,
    articles,
  });
  expect({ status, errorMessage }).toEqual({ status: "Completed", errorMessage: null });
  expect(JSON.parse(output)).toEqual({
    found: { a: 1, bb: 2, slow: 4, eeeee: 5, ffffff: 6 },
    missing: [{ article: "gone", reason: expect.stringContaining("the service answered with 503") }],
  });
  expect(Object.fromEntries(asked)).toEqual({ a: 1, bb: 1, slow: 3, gone: 4, eeeee: 1, ffffff: 1 });
  expect(children).toHaveLength(11);
}, 120_000);

it("extraction.yaml takes JSON that matches the schema, after one correction", async () => {
  const run = await apply("extraction.yaml");
  const invoice = {
    number: "R-7",
    date: "2026-03-04",
    lines: [
      { text: "Lamp", amount: 19.9 },
      { text: "Delivery", amount: 5 },
    ],
    total: 24.9,
  };
  const answer = { content: JSON.stringify(invoice) };
  models.script("Invoice R-7", { content: JSON.stringify({ ...invoice, date: "4 March" }) }, answer);
  const { status, output } = await run("read-invoice", {
    html: "<title>Invoice R-7</title><script>steal()</script><h1>Invoice</h1><p>Lamp 19.90, delivery 5.00</p>",
  });
  expect(status).toBe("Completed");
  expect(JSON.parse(output)).toEqual({ invoice, adds_up: true });
  const sent = JSON.stringify(models.requests[0]?.body.messages);
  expect(sent).toContain("Lamp 19.90");
  expect(sent).not.toContain("steal");
}, 120_000);

it("report.yaml mails the report once and keeps its total for the next one", async () => {
  const run = await apply("report.yaml");
  const first = await run("mail-report", {
    csv: "region,amount\nNorth,10.5\nSouth,4\nNorth,1\n",
    to: "ada@example.test",
  });
  expect(first).toMatchObject({ status: "Completed", errorMessage: null });
  expect(JSON.parse(first.output)).toMatchObject({ total: 15.5, version: 1 });
  expect(mails).toHaveLength(1);
  expect(mails[0]).toContain("To: ada@example.test");
  expect(mails[0]).toContain("North: 11.50");
  expect(mails[0]).toContain("Total: 15.50 (last report: 0.00)");
  const second = await run("mail-report", { csv: "region,amount\nNorth,1\n", to: "ada@example.test" });
  expect(JSON.parse(second.output)).toMatchObject({ total: 1, version: 2 });
  expect(mails[1]).toContain("(last report: 15.50)");
}, 120_000);

it("compose.yaml prices an order by runs of other tools", async () => {
  const run = await apply("compose.yaml");
  const { status, output, children } = await run("price-order", {
    lines: [
      { unitPrice: 2, quantity: 3 },
      { unitPrice: 1, quantity: 10 },
    ],
    country: "NO",
  });
  expect(status).toBe("Completed");
  expect(JSON.parse(output)).toEqual({ lines: [6, 9], delivery: 5, total: 20 });
  expect(children.map(({ targetName }) => targetName).sort()).toEqual([
    "Price delivery",
    "Price line",
    "Price line",
  ]);
}, 120_000);

it("delegation.yaml lets one agent ask another", async () => {
  const run = await apply("delegation.yaml");
  models.script(
    "You find figures",
    { calls: [{ name: "calculate", arguments: { expression: "6 * 7" } }] },
    { content: "42: 6 * 7." },
  );
  models.script(
    "You answer questions",
    { calls: [{ name: "run_agent", arguments: { agent: "researcher", message: "What is 6 * 7?" } }] },
    { content: "It is 42." },
  );
  const { status, output, children } = await run("editor", { userMessage: "How much is 6 times 7?" });
  expect({ status, output }).toEqual({ status: "Completed", output: "It is 42." });
  expect(children).toEqual([{ status: "Completed", targetName: "Researcher", output: "42: 6 * 7." }]);
  const last = models.requests.at(-1);
  expect(JSON.stringify(last?.body.messages)).toContain("42: 6 * 7.");
}, 120_000);
