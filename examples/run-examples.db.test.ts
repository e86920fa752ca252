import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import { newId } from "@/server/base/ids";
import { mintOrgId } from "@/server/base/mint-org-id";
import { streamRun } from "@/server/runs/live/run-stream";
import { callCommandLine } from "@/testing/command-line";
import { echoForms, findLeaks } from "@/testing/leaks";
import { testLogger } from "@/testing/log";
import { type ModelServer, startModelServer } from "@/testing/servers/model-server";
import { startTestService, type TestService } from "@/testing/services/service";

/**
 * The examples that need a model, a mail server or another service: applied with the command line and run over REST.
 * Secrets are planted wherever the operator and organizations have some; none may be found after the runs.
 */

let models: ModelServer;
let smtp: SMTPServer;
let inventory: Server;
let service: TestService;
let folder: string;
const log = testLogger();
const PLANTED = {
  github: 'ghp_9aZ+/k&"q-é~Sup3r',
  openai: "sk-planted-1f8a6b2c9d",
  smtp: "smtp-planted+/7Qe",
};
const mails: string[] = [];
/** The number of requests to the inventory, by article. */
const asked = new Map<string, number>();

const portOf = (server: Pick<Server, "address">) =>
  z.object({ port: z.number() }).parse(server.address()).port;

beforeAll(async () => {
  models = await startModelServer();
  inventory = createServer((request, response) => {
    if (request.url?.startsWith("/repos/")) return answerAsGitHub(request, response);
    const article = new URL(request.url ?? "", "http://x").searchParams.get("sku") ?? "";
    const count = (asked.get(article) ?? 0) + 1;
    asked.set(article, count);
    const fails = article === "gone" || (article === "slow" && count < 3);
    response.writeHead(fails ? 503 : 200, { "content-type": "application/json" });
    return response.end(JSON.stringify({ stock: article.length }));
  });
  smtp = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    onAuth: ({ password, username }, _session, done) =>
      password === PLANTED.smtp ? done(null, { user: username }) : done(new Error("Invalid login")),
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
  const settings = {
    OPENAI_BASE_URL: models.url,
    OPENAI_API_KEY: PLANTED.openai,
    SMTP_URL: `smtp://ada:${encodeURIComponent(PLANTED.smtp)}@127.0.0.1:${smtpPort}`,
    SMTP_FROM: "Stepwell <no-reply@stepwell.test>",
    EGRESS_ALLOW: `127.0.0.1:${smtpPort},127.0.0.1:${inventoryPort}`,
  };
  service = await startTestService(settings, log);
  folder = await mkdtemp(join(tmpdir(), "stepwell-examples-"));
}, 60_000);
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
  await models.close();
  await new Promise<void>((done) => smtp.close(() => done()));
  await new Promise((done) => inventory.close(done));
});

/** An API that echoes the key of its caller in all forms. */
function answerAsGitHub({ headers }: IncomingMessage, response: ServerResponse) {
  const isKnown = headers.authorization === `Bearer ${PLANTED.github}`;
  const labels = Object.values(echoForms(PLANTED.github)).map((name) => ({ name }));
  response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
  return response.end(JSON.stringify([{ number: 1, title: `Known as ${headers.authorization}`, labels }]));
}

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

/** Calls the command line; returns its standard output. */
async function stepwell(args: string[], secret = ""): Promise<string> {
  const { code, out, err } = await callCommandLine(service.services, args, { secret });
  expect(code, err).toBe(0);
  return out;
}

/** Applies an example with the command line; returns what starts a tool or agent of it and waits for its end. */
async function apply(file: string, path = join("examples", file)) {
  const stdout = await stepwell(["apply", path, "--json"]);
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
    { content: JSON.stringify({ figure: 42, method: "6 * 7" }) },
  );
  models.script(
    "You answer questions",
    { calls: [{ name: "run_agent", arguments: { agent: "researcher", message: "What is 6 * 7?" } }] },
    { content: "It is 42." },
  );
  const { status, output, children } = await run("editor", { userMessage: "How much is 6 times 7?" });
  expect({ status, output }).toEqual({ status: "Completed", output: "It is 42." });
  expect(children).toEqual([
    { status: "Completed", targetName: "Researcher", output: '{"figure":42,"method":"6 * 7"}' },
  ]);
  const last = models.requests.at(-1);
  // The parsed answer within the step's output, not its text.
  expect(JSON.stringify(last?.body.messages)).toContain('\\"figure\\":42');
}, 120_000);

/** The data of a run on pages and in live events. */
async function shownOf(runId: string, organizationId: string): Promise<string> {
  const { services } = service;
  const actor = {
    kind: "member",
    orgId: mintOrgId(organizationId),
    userId: newId(),
    name: "A viewer",
    role: "viewer",
  } as const;
  const caller = createDashboardCaller({ services, actor, requestId: "r" });
  const shown: unknown[] = [await caller.runs.inspect({ runId }), await caller.runs.configuration({ runId })];
  const steps = await services.db.step.findMany({ where: { runId }, select: { id: true } });
  for (const { id } of steps) shown.push(await caller.runs.step({ runId, stepId: id }));
  const over = new AbortController();
  const sink = {
    drained: async () => {},
    send: (event: unknown) => void shown.push(event),
    close: () => over.abort(),
    signal: over.signal,
  };
  await streamRun(services, actor, { runId, after: -1, sink });
  return JSON.stringify(shown);
}

it("secrets.yaml calls its API, and no planted secret is in the database, the log, pages or live events", async () => {
  const host = `127.0.0.1:${portOf(inventory)}`;
  const source = await readFile(join(import.meta.dirname, "secrets.yaml"), "utf8");
  const path = join(folder, "secrets.yaml");
  const edited = source
    .replaceAll("https://api.github.com", `http://${host}`)
    .replace("[api.github.com]", `["${host}"]`)
    .replace("credits: 100", "credits: 100\n    apiKeys: [{ name: ci }]");
  await writeFile(path, edited);
  const run = await apply("secrets.yaml", path);
  await stepwell(["secrets", "set", "secrets", "github"], PLANTED.github);
  const { status, errorMessage, output } = await run("open-issues", { owner: "acme", repository: "shop" });
  expect({ status, errorMessage }).toEqual({ status: "Completed", errorMessage: null });
  const [issue] = JSON.parse(output).issues;
  expect(issue.title).toBe("Known as Bearer [secret github]");
  expect(issue.labels.length).toBe(Object.keys(echoForms(PLANTED.github)).length);

  const { db, pool } = service.services;
  const runs = await db.run.findMany({ select: { id: true, organizationId: true, targetName: true } });
  const shown: Record<string, string> = {};
  for (const { id, organizationId, targetName } of runs)
    shown[`pages of ${targetName} ${id}`] = await shownOf(id, organizationId);
  expect(Object.values(shown).join("")).toContain("[secret github]");
  for (const value of Object.values(PLANTED))
    expect(await findLeaks({ pool, log }, value, shown)).toEqual([]);
}, 120_000);
