import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import type { ModelApi } from "@/server/base/models/model-api";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { exportOrganization } from "@/server/catalog/definition-file/export";
import { readChoices } from "@/server/catalog/edit-definition";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { removeSecret, setSecret } from "@/server/catalog/organization/secrets";
import { MIB } from "@/server/contract/sizes";
import { createGuardedEgress, type GuardedFetch } from "@/server/guard/egress/guarded-fetch";
import type { Egress } from "@/server/guard/egress/trusted-fetch";
import { StepMemory } from "@/server/guard/limits/process-memory";
import { SecretPlaceholders } from "@/server/guard/secrets/placeholders";
import { startFromDashboard } from "@/server/runs/rerun";
import { startRun } from "@/server/runs/start";
import { executeRun, executeWatched } from "@/testing/execute";
import { echoForms, findLeaks } from "@/testing/leaks";
import { createMember } from "@/testing/runs";
import { openDatabaseProxy } from "@/testing/servers/database-proxy";
import { startStrictMessages, thinksFor } from "@/testing/servers/families/strict-messages";
import { calculatesFor, startStrictResponses } from "@/testing/servers/families/strict-responses";
import { closeServer, listen } from "@/testing/servers/listen";
import { createTenant, createWorld, type Tenant, type World } from "@/testing/world";

const VALUE = "sk-9aZ+k&q-Sup3r";
const LONG_VALUE = "Zq7uN4vT9wKx".repeat(16);
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let world: World;
let egress: Egress<GuardedFetch>;
let server: Server;
let host: string;
let tenant: Tenant;
let keys: (string | undefined)[];
let bodies: string[];
let answer: Answer;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    bodies.push(await text(request));
    keys.push(request.headers.authorization);
    answer(request, response);
  });
  const port = await listen(server);
  host = `127.0.0.1:${port}`;
  egress = createGuardedEgress({ allow: [host] });
  world = await createWorld({ fetch: egress.fetch });
});
afterAll(async () => {
  await egress.close();
  await world.close();
  await closeServer(server);
});
beforeEach(async () => {
  keys = [];
  bodies = [];
  tenant = await createTenant(world);
  answer = (_request, response) => complete(response, "Hello from afar.");
});

function complete(response: ServerResponse, content: string): void {
  response.setHeader("content-type", "application/json");
  const usage = { prompt_tokens: 10, completion_tokens: 5 };
  response.end(
    JSON.stringify({ choices: [{ message: { role: "assistant", content }, finish_reason: "stop" }], usage }),
  );
}

const declare = ({
  slug,
  hosts = [host],
  baseUrl = `http://${host}/v1`,
  api = "chat",
}: {
  slug: string;
  hosts?: string[];
  baseUrl?: string;
  api?: ModelApi;
}) => `organizations:
  - slug: ${slug}
    secrets: [{ name: far, hosts: ${JSON.stringify(hosts)} }]
    modelProviders:
      - name: far-away
        api: ${api}
        baseUrl: ${baseUrl}
        apiKey: "{{ secrets.far }}"
        models: [far/large]
    tools:
      - slug: write
        name: Write
        steps: [{ id: text, uses: generate_text, with: { prompt: Hi, model: far/large } }]
    agents: [{ slug: far, name: Far, model: far/large }]
`;

const operator = (of = tenant) => ({ kind: "operator", orgId: of.orgId, name: "operator" }) as const;

async function prepare(value: string | null = VALUE): Promise<{ agentId: string; toolId: string }> {
  const [applied] = await applyDefinitionFile(world, declare(tenant));
  if (value !== null) await setSecret(world, operator(), { secret: { name: "far", value } });
  return { agentId: applied?.agents[0]?.id ?? "", toolId: applied?.tools[0]?.id ?? "" };
}

async function run(kind: "agent" | "tool", id: string) {
  const member = await createMember(world, tenant, "owner");
  const input = kind === "agent" ? "Hi" : "{}";
  const { runId } = await startFromDashboard(world, member, { kind, id, input });
  const events = await executeWatched(world, member, runId);
  const where = { runId };
  return {
    ...(await world.db.run.findUniqueOrThrow({ where: { id: runId } })),
    calls: await world.db.modelCall.findMany({ where }),
    steps: await world.db.step.findMany({ where }),
    events,
    member,
  };
}

it.each([
  ["responses", () => startStrictResponses(calculatesFor(2))],
  ["anthropic", () => startStrictMessages(thinksFor(2))],
] as const)("a provider is called over %s, and what it gave goes back to it", async (api, startServer) => {
  const strict = await startServer();
  const hosts = [new URL(strict.url).host];
  const near = createGuardedEgress({ allow: hosts });
  const beside = await createWorld({ beside: world, fetch: near.fetch });
  try {
    const file = declare({ ...tenant, hosts, baseUrl: strict.url, api });
    await applyDefinitionFile(beside, file.replace("name: Far,", "name: Far, functions: [calculate],"));
    await setSecret(beside, operator(), { secret: { name: "far", value: VALUE } });
    const where = { slug: "far", organizationId: tenant.orgId };
    const { id } = await beside.db.agent.findFirstOrThrow({ where });
    const member = await createMember(beside, tenant, "owner");
    const { runId } = await startFromDashboard(beside, member, { kind: "agent", id, input: "Add." });
    await executeRun(beside, runId);
    expect(strict.rejected).toEqual([]);
    expect(await beside.db.run.findUniqueOrThrow({ where: { id: runId } })).toMatchObject({
      status: "Completed",
      output: "Done after 2.",
      inputTokens: 300,
    });
    if ("keys" in strict) expect([...strict.keys]).toEqual([VALUE]);
    expect(await exportOrganization(beside, operator())).toContain(`api: ${api}`);
  } finally {
    await beside.close();
    await near.close();
    await strict.close();
  }
});

it("generate_text waits while the database is unavailable", async () => {
  const { toolId } = await prepare();
  const proxy = await openDatabaseProxy(world.env.databaseUrl);
  const beside = await createWorld({ beside: world, databaseUrl: proxy.url, fetch: egress.fetch });
  try {
    const { runId } = await startRun(beside, operator(), { kind: "tool", targetId: toolId, input: {} });
    // The use of the key is recorded before the call.
    proxy.cut({ request: "audit_entries", moment: "before" });
    await executeRun(beside, runId);
    expect(proxy.left()).toBe(0);
    expect(await world.db.run.findUniqueOrThrow({ where: { id: runId } })).toMatchObject({
      status: "Completed",
      output: '"Hello from afar."',
    });
    expect(keys).toEqual([`Bearer ${VALUE}`]);
  } finally {
    await beside.close();
    await proxy.close();
  }
});

it("an agent and generate_text call the organization's provider with its secret, which is audited", async () => {
  const { agentId, toolId } = await prepare();
  const agent = await run("agent", agentId);
  expect(agent).toMatchObject({ status: "Completed", output: "Hello from afar.", inputTokens: 10 });
  expect(agent.calls).toMatchObject([{ provider: "far-away", model: "far/large" }]);
  const tool = await run("tool", toolId);
  expect(tool).toMatchObject({ status: "Completed", output: JSON.stringify("Hello from afar.") });
  expect(keys).toEqual([`Bearer ${VALUE}`, `Bearer ${VALUE}`]);
  const used = await world.db.auditEntry.findMany({
    where: { organizationId: tenant.orgId, action: "secret.used" },
  });
  expect(used).toHaveLength(2);
  const secret = await world.db.secret.findFirst({ where: { organizationId: tenant.orgId } });
  expect(secret?.lastUsedAt).not.toBeNull();
  expect((await readChoices(world, agent.member)).models).toContainEqual(
    expect.objectContaining({ name: "far/large", provider: "far-away" }),
  );
});

it("a feature that a provider's server rejected once is not requested in later calls", async () => {
  const { agentId } = await prepare();
  answer = (_request, response) => {
    if (!bodies.at(-1)?.includes("max_completion_tokens")) return complete(response, "Hello.");
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "Unknown parameter: max_completion_tokens" } }));
  };
  expect(await run("agent", agentId)).toMatchObject({ status: "Completed" });
  expect(await run("agent", agentId)).toMatchObject({ status: "Completed" });
  expect(bodies.map((body) => body.includes("max_completion_tokens"))).toEqual([true, false, false]);
});

it.each<[string, Answer]>([
  ["an answer", (_request, response) => complete(response, Object.values(echoForms(VALUE)).join(" "))],
  [
    "a stream",
    (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const part of [...Object.values(echoForms(VALUE)).join(" ")])
        response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: part } }] })}\n\n`);
      response.end(`data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: VALUE }] })}\n\n`);
    },
  ],
  [
    "its reasoning",
    (_request, response) => {
      response.setHeader("content-type", "application/json");
      const message = { content: "Hello.", reasoning_content: Object.values(echoForms(VALUE)).join(" ") };
      response.end(JSON.stringify({ choices: [{ message, finish_reason: "stop" }] }));
    },
  ],
  [
    "a tool call",
    (_request, response) => {
      response.setHeader("content-type", "application/json");
      const call = { name: VALUE, arguments: JSON.stringify({ key: VALUE }) };
      const message = { tool_calls: [{ id: VALUE, type: "function", function: call }] };
      response.end(JSON.stringify({ choices: [{ message, finish_reason: VALUE }] }));
    },
  ],
  [
    "an error",
    (_request, response) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `Wrong key ${VALUE}`, code: VALUE } }));
    },
  ],
  [
    "a redirect",
    (_request, response) => response.writeHead(302, { location: `http://evil.test/?k=${VALUE}` }).end(),
  ],
])("a key that the provider echoes in %s is found nowhere", async (_name, echo) => {
  const { agentId } = await prepare();
  answer = echo;
  const ended = await run("agent", agentId);
  expect(keys[0]).toBe(`Bearer ${VALUE}`);
  expect(JSON.stringify(ended)).toContain("[secret far]");
  expect(ended.events.length).toBeGreaterThan(0);
  expect(await findLeaks(world, VALUE, { events: JSON.stringify(ended.events) })).toEqual([]);
});

it("the search for secrets in a streamed answer does not grow with the number of its pieces", async () => {
  const { agentId } = await prepare();
  const pieces = Array.from({ length: 2_000 }, (_, index) => `${index} `);
  answer = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const write = (choice: object) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`;
    const events = pieces.map((content) => write({ delta: { content } }));
    response.end(`${events.join("")}${write({ delta: {}, finish_reason: "stop" })}`);
  };
  const search = vi.spyOn(SecretPlaceholders.prototype, "describe");
  const { output } = await run("agent", agentId);
  const searched = search.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
  vi.restoreAllMocks();
  const content = pieces.join("");
  expect(output).toBe(content);
  expect(searched).toBeGreaterThanOrEqual(content.length);
  expect(searched).toBeLessThan(100 * content.length);
});

it.each<[string, Answer]>([
  [
    "an error",
    (_request, response) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `${"-".repeat(400)}${LONG_VALUE}` } }));
    },
  ],
  [
    "a tool call",
    (_request, response) => {
      response.setHeader("content-type", "application/json");
      const padded = `${"-".repeat(120)}${LONG_VALUE}`;
      const message = {
        tool_calls: [{ id: padded, type: "function", function: { name: padded, arguments: "{}" } }],
      };
      response.end(JSON.stringify({ choices: [{ message, finish_reason: padded }] }));
    },
  ],
  [
    "a streamed tool call",
    (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const padded = `${"-".repeat(120)}${LONG_VALUE}`;
      const delta = { tool_calls: [{ index: 0, id: padded, function: { name: padded, arguments: "{}" } }] };
      response.end(`data: ${JSON.stringify({ choices: [{ delta, finish_reason: padded }] })}\n\n`);
    },
  ],
])("no part of a key is found that the provider echoes where %s is cut", async (_name, echo) => {
  const { agentId } = await prepare(LONG_VALUE);
  answer = echo;
  const ended = await run("agent", agentId);
  const stored = JSON.stringify(ended);
  expect(stored).toContain("[secret far]");
  expect(stored).not.toContain(LONG_VALUE.slice(0, 20));
  expect(await findLeaks(world, LONG_VALUE.slice(0, 20))).toEqual([]);
});

it("a provider is its organization's alone", async () => {
  await prepare();
  const stranger = await createTenant(world);
  const [applied] = await applyDefinitionFile(
    world,
    `organizations: [{ slug: ${stranger.slug}, agents: [{ slug: far, name: Far, model: far/large }] }]`,
  );
  tenant = stranger;
  const ended = await run("agent", applied?.agents[0]?.id ?? "");
  expect(ended.calls).toMatchObject([{ provider: "test" }]);
  expect(keys).toEqual([]);
});

it("a key without a value, or one that has expired, fails the run and is not sent", async () => {
  const { agentId } = await prepare(null);
  expect(await run("agent", agentId)).toMatchObject({
    status: "Failed",
    errorMessage: expect.stringContaining('The secret "far" has no value yet'),
  });
  const expiresAt = new Date(world.clock.now().getTime() + 1_000).toISOString();
  await setSecret(world, operator(), { secret: { name: "far", value: VALUE, expiresAt } });
  world.clock.advance(2_000);
  expect(await run("agent", agentId)).toMatchObject({
    status: "Failed",
    errorMessage: expect.stringContaining('The secret "far" expired at'),
  });
  expect(keys).toEqual([]);
});

it("a model that the own provider does not know falls back to another provider's", async () => {
  await prepare();
  const file = declare(tenant).replace("name: Far,", "name: Far, fallbackModels: [spare],");
  const [applied] = await applyDefinitionFile(world, file);
  answer = (request, response) => {
    response.writeHead(404, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ error: { message: `no such model for ${request.headers.authorization}` } }),
    );
  };
  const { status, output, calls } = await run("agent", applied?.agents[0]?.id ?? "");
  expect({ status, output }).toEqual({ status: "Completed", output: "Done." });
  expect(calls).toMatchObject([{ provider: "test", model: "spare" }]);
  expect(JSON.parse(calls[0]?.attempts ?? "")).toMatchObject([
    { provider: "far-away", model: "far/large", error: expect.stringContaining("no such model") },
  ]);
  expect(await findLeaks(world, VALUE)).toEqual([]);
  expect(await exportOrganization(world, operator())).toContain("fallbackModels:");
});

it("providers are checked with their places, exported, and removed by an empty list", async () => {
  const issues = (source: string) =>
    applyDefinitionFile(world, source).then(
      () => "",
      (error: unknown) => String(error),
    );
  expect(await issues(declare({ slug: tenant.slug, hosts: ["other.test"] }))).toContain(
    `modelProviders[0].apiKey (line 8) the secret "far" may not be sent to ${host}; its hosts: other.test`,
  );
  const wrong = declare(tenant).replace("{{ secrets.far }}", "{{ secrets.near }}");
  expect(await issues(wrong)).toContain(
    'modelProviders[0].apiKey (line 8) there is no secret "near"; known secrets: far',
  );
  const plain = declare(tenant).replace('"{{ secrets.far }}"', VALUE).replace("far-away", "demo");
  expect(await issues(plain)).toMatch(
    /modelProviders\[0\]\.name \(line 5\) is taken.*\n.*apiKey \(line 8\) must be a secret alone in its braces/,
  );
  await prepare();
  const exported = await exportOrganization(world, await operatorOf(world, tenant.slug));
  expect(exported).toContain("{{ secrets.far }}");
  expect(await applyDefinitionFile(world, exported)).toMatchObject([{ saved: "unchanged" }]);
  await expect(removeSecret(world, operator(), { name: "far" })).rejects.toThrow(
    'The model provider "far-away" uses the secret "far".',
  );
  const none = `organizations: [{ slug: ${tenant.slug}, modelProviders: [] }]`;
  expect(await applyDefinitionFile(world, none)).toMatchObject([{ saved: "updated" }]);
  expect(await exportOrganization(world, await operatorOf(world, tenant.slug))).not.toContain("far-away");
});

it("ends a run whose model's answers are larger than 16 MiB together", async () => {
  tenant = await createTenant(world, { credits: "100000" });
  const file = declare(tenant).replace("name: Far,", "name: Far, functions: [calculate],");
  // Without a key, nothing is redacted, which takes seconds for texts of this size.
  const [applied] = await applyDefinitionFile(world, file.replace(/ *apiKey: .*\n/, ""));
  const content = "\u0101".repeat(3 * MIB);
  answer = (_request, response) => {
    const call = { name: "calculate", arguments: JSON.stringify({ expression: `1 + ${bodies.length}` }) };
    const toolCalls = [{ id: `call-${bodies.length}`, type: "function", function: call }];
    const message = { role: "assistant", content, tool_calls: toolCalls };
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ choices: [{ message, finish_reason: "tool_calls" }], usage }));
  };
  const member = await createMember(world, tenant, "owner");
  const id = applied?.agents[0]?.id ?? "";
  const { runId } = await startFromDashboard(world, member, { kind: "agent", id, input: "Hi" });
  const responses = vi.spyOn(StepMemory.prototype, "holdResponse");
  const requests = vi.spyOn(StepMemory.prototype, "holdRequest");
  await executeRun(world, runId);
  expect(await world.db.run.findUniqueOrThrow({ where: { id: runId } })).toMatchObject({
    status: "Failed",
    errorMessage: "The model's answers are larger than 16 MiB together.",
    // The third answer is charged, but not kept.
    outputTokens: 15,
  });
  expect(responses).toHaveBeenCalledTimes(3);
  // The first has no answer in it.
  expect(requests).toHaveBeenCalledTimes(2);
  vi.restoreAllMocks();
  expect(bodies.length).toBe(3);
});

it("sends options that raise the price: the organization pays its provider itself", async () => {
  const file = declare(tenant).replace(
    "slug: far, name: Far,",
    "slug: far, name: Far, modelOptions: { speed: fast },",
  );
  const [applied] = await applyDefinitionFile(world, file);
  await setSecret(world, operator(), { secret: { name: "far", value: VALUE } });
  expect((await run("agent", applied?.agents[0]?.id ?? "")).status).toBe("Completed");
  expect(bodies[0]).toContain('"speed":"fast"');
});

it("reads a stream of more than 8 MiB, and holds memory only for what was read", async () => {
  const { agentId } = await prepare();
  const event = (content: string, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason }], padding: "x".repeat(8_000) })}\n\n`;
  answer = (_request, response) => {
    response.setHeader("content-type", "text/event-stream");
    response.end(`${event("a").repeat(1_200)}${event("", "stop")}data: [DONE]\n\n`);
  };
  let held = 0;
  const holds = vi.spyOn(StepMemory.prototype, "holdResponse").mockImplementation((bytes) => {
    held += bytes;
    // Only the first part may wait.
    return holds.mock.calls.length === 1 ? Promise.resolve() : new Promise(() => undefined);
  });
  const { status, output } = await run("agent", agentId);
  expect([status, output]).toEqual(["Completed", "a".repeat(1_200)]);
  expect(holds.mock.calls[0]?.[0]).toBeLessThan(MIB);
  expect(held).toBeLessThanOrEqual(8 * MIB);
  expect(held).toBeGreaterThan(7 * MIB);
  vi.restoreAllMocks();
});

it("lets functions wait for memory before they read a large response", async () => {
  const file = declare(tenant).replace(
    "uses: generate_text, with: { prompt: Hi, model: far/large }",
    `uses: http_request, with: { url: "http://${host}/" }`,
  );
  const [applied] = await applyDefinitionFile(world, file);
  const holds = vi.spyOn(StepMemory.prototype, "holdResponse");
  const gives = vi.spyOn(StepMemory.prototype, "releaseBodies");
  answer = (_request, response) => response.end("x".repeat(MIB - 2000));
  const ended = await run("tool", applied?.tools[0]?.id ?? "");
  expect(ended.status).toBe("Completed");
  expect(holds.mock.calls).toEqual([[MIB - 2000]]);
  expect(gives).toHaveBeenCalled();
  vi.restoreAllMocks();
});
