import { createServer, type IncomingMessage, type Server } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import type { ToolInput } from "@/server/catalog/definitions";
import { changeSecretRules, removeSecret, setSecret } from "@/server/catalog/organization/secrets";
import { saveTool } from "@/server/catalog/save-tool";
import { createGuardedEgress, type GuardedFetch } from "@/server/guard/egress/guarded-fetch";
import type { Egress } from "@/server/guard/egress/trusted-fetch";
import { planFork } from "@/server/runs/fork/plan-fork";
import { startFork } from "@/server/runs/fork/start-fork";
import { startFromDashboard } from "@/server/runs/rerun";
import type { ModelReply } from "@/server/work/models/port";
import { executeRun, executeSegment, executeWatched, replaceWorker } from "@/testing/execute";
import { echoForms, findLeaks } from "@/testing/leaks";
import { createMember } from "@/testing/runs";
import { closeServer, listen } from "@/testing/servers/listen";
import { createTenant, createWorld, scriptedModels, type Tenant, type World } from "@/testing/world";
import { admitWaitingRuns } from "../claim";
import { WorkerLost } from "../write/writer";

const VALUE = 'ghp_9aZ+/k&"q-é~Sup3r';

let world: World;
let tenant: Tenant;
let egress: Egress<GuardedFetch>;
let allowed: EchoServer;
let other: EchoServer;
let script: Partial<ModelReply>[];

type Seen = { url: string; headers: IncomingMessage["headers"]; body: string };
type EchoServer = { host: string; seen: Seen[]; server: Server };

beforeAll(async () => {
  [allowed, other] = await Promise.all([startEcho(), startEcho()]);
  egress = createGuardedEgress({ allow: [allowed.host, other.host] });
  const models = scriptedModels(() => script.shift() ?? {});
  world = await createWorld({ fetch: egress.fetch, models });
});
afterAll(async () => {
  await egress.close();
  await world.close();
  for (const { server } of [allowed, other]) {
    await closeServer(server);
  }
});
beforeEach(async () => {
  tenant = await createTenant(world, { agent: { functions: ["http_request"] } });
  script = [];
  for (const { seen } of [allowed, other]) seen.length = 0;
});

// `?to=` leads elsewhere, `/located` has a `Location`, `/seen` lists all requests.
async function startEcho(): Promise<EchoServer> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const url = request.url ?? "";
    seen.push({ url, headers: request.headers, body });
    const to = new URL(url, "http://x.test").searchParams.get("to");
    if (to !== null) return response.writeHead(307, { location: to }).end();
    if (url.endsWith("/located"))
      return response
        .writeHead(201, { location: `http://${request.headers.host}${url.replace("located", "new")}` })
        .end();
    const echoed = Object.fromEntries(Object.entries(echoForms(VALUE)));
    response.setHeader("x-echo", encodeURIComponent(VALUE));
    if (url.startsWith("/text")) return response.end(`<p>${Object.values(echoed).join("</p><p>")}</p>`);
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify({ echoed, [VALUE]: "as a key", seen }));
  });
  const port = await listen(server);
  return { host: `127.0.0.1:${port}`, seen, server };
}

const operator = (of: Tenant = tenant) => ({ kind: "operator", orgId: of.orgId, name: "operator" }) as const;
const setApi = (of: Tenant = tenant, more: { expiresAt?: string } = {}) =>
  setSecret(world, operator(of), { secret: { name: "api", value: VALUE, hosts: [allowed.host], ...more } });

async function startTool(steps: ToolInput["steps"], input: object = {}): Promise<string> {
  const { id } = await saveTool(world, operator(), { definition: { slug: "caller", name: "Caller", steps } });
  return start("tool", id, input);
}

async function start(kind: "agent" | "tool", id: string, input: object | string): Promise<string> {
  const member = await createMember(world, tenant, "member");
  const text = typeof input === "string" ? input : JSON.stringify(input);
  return (await startFromDashboard(world, member, { kind, id, input: text })).runId;
}

async function runTool(steps: ToolInput["steps"], input: object = {}) {
  const runId = await startTool(steps, input);
  await executeRun(world, runId);
  return { runId, ...(await read(runId)) };
}

async function read(runId: string) {
  const run = await world.db.run.findUniqueOrThrow({ where: { id: runId } });
  const steps = await world.db.step.findMany({ where: { runId }, orderBy: { stepNumber: "asc" } });
  return { run, steps };
}

describe("a secret", () => {
  it("reaches its host in headers, query and body, and no echo of it is stored, logged or sent to pages", async () => {
    await setApi();
    const at = `http://${allowed.host}`;
    const runId = await startTool([
      {
        id: "json",
        uses: "http_request",
        with: {
          url: `${at}/json`,
          method: "POST",
          headers: { Authorization: "Bearer {{ secrets.api }}" },
          query: { key: "{{secrets.api}}" },
          body: { deep: [{ token: "{{ secrets.api }}", mixed: "a{{ secrets.api }}b" }] },
        },
      },
      {
        id: "form",
        uses: "http_request",
        with: { url: `${at}/text`, method: "POST", form: { token: "{{ secrets.api }}" } },
      },
      {
        id: "basic",
        uses: "http_request",
        with: { url: `${at}/basic`, basicAuth: { username: "user", password: "{{ secrets.api }}" } },
      },
      { id: "later", uses: "http_request", with: { url: `${at}/seen` } },
      { id: "copied", uses: "transform_json", with: { value: "{{ steps.json.body }}", expression: "$" } },
    ]);
    const member = await createMember(world, tenant, "viewer");
    const events = await executeWatched(world, member, runId);

    const { run, steps } = await read(runId);
    expect(run).toMatchObject({ status: "Completed" });
    const [json, form, basic] = allowed.seen;
    // Node reads headers as Latin-1, which is how they were sent.
    expect(json?.headers.authorization).toBe(`Bearer ${VALUE}`);
    expect(new URL(json?.url ?? "", at).searchParams.get("key")).toBe(VALUE);
    expect(JSON.parse(json?.body ?? "")).toEqual({ deep: [{ token: VALUE, mixed: `a${VALUE}b` }] });
    expect(new URLSearchParams(form?.body).get("token")).toBe(VALUE);
    expect(basic?.headers.authorization).toBe(`Basic ${Buffer.from(`user:${VALUE}`).toString("base64")}`);

    expect(JSON.parse(steps[0]?.input ?? "")).toMatchObject({
      headers: { Authorization: "Bearer {{ secrets.api }}" },
      query: { key: "{{ secrets.api }}" },
    });
    expect(steps[0]?.output).toContain("[secret api]");
    expect(run.output).toContain('"[secret api]":"as a key"');
    expect(events.length).toBeGreaterThan(0);
    expect(await findLeaks(world, VALUE, { events: JSON.stringify(events) })).toEqual([]);
  });

  it("is in the path of an address, and redacted in Location, errors and what pages show", async () => {
    await setApi();
    const at = `http://${allowed.host}`;
    const send = { url: `${at}/bot{{ secrets.api }}/send`, query: { to: "../moved" } };
    const runId = await startTool([
      { id: "direct", uses: "http_request", with: { url: `${at}/bot{{ secrets.api }}/located` } },
      { id: "moved", uses: "http_request", with: send },
      {
        id: "elsewhere",
        uses: "http_request",
        with: {
          url: `${at}/copy/{{ secrets.api }}`,
          query: { to: `http://${other.host}/{{ secrets.api }}` },
        },
        onError: "continue",
      },
      {
        id: "gone",
        uses: "http_request",
        with: { url: `http://${other.host}/{{ secrets.api }}` },
        onError: "continue",
      },
    ]);
    const member = await createMember(world, tenant, "viewer");
    const events = await executeWatched(world, member, runId);

    const { run, steps } = await read(runId);
    expect(run.status).toBe("Completed");
    // The value has a slash, so that the redirect leads from its second segment to the first.
    const [firstSegment] = VALUE.split("/");
    const sent = allowed.seen.map(({ url }) => decodeURIComponent(url.split("?")[0] ?? ""));
    expect(sent).toEqual([
      `/bot${VALUE}/located`,
      `/bot${VALUE}/send`,
      `/bot${firstSegment}/moved`,
      `/copy/${VALUE}`,
    ]);
    expect(other.seen).toEqual([]);
    expect(JSON.parse(steps[0]?.output ?? "").headers.location).toBe(`${at}/bot[secret api]/new`);
    expect(JSON.parse(steps[1]?.input ?? "").url).toBe(`${at}/bot{{ secrets.api }}/send`);
    expect(steps[2]?.errorMessage).toContain(
      `redirects to ${other.host} with the secret "api" in the address`,
    );
    expect(steps[3]?.errorMessage).toContain(`The secret "api" may not be sent to ${other.host}.`);
    expect(await findLeaks(world, VALUE, { events: JSON.stringify(events) })).toEqual([]);
  });

  it("is filled into the changed input of a fork, only where the step itself uses it", async () => {
    await setApi();
    const url = `http://${allowed.host}/`;
    const call = {
      id: "call",
      uses: "http_request",
      with: { url, headers: { "x-key": "{{ secrets.api }}" } },
    };
    const { runId, steps } = await runTool([call]);
    const member = await createMember(world, tenant, "member");
    const forkWith = async (input: JsonObject) => {
      const request = { fromStep: 1, changes: { input }, tools: "live", runId } as const;
      return startFork(world, member, { plan: await planFork(world, member, request) });
    };
    // As the dialog shows it.
    const stored: JsonObject = JSON.parse(steps[0]?.input ?? "{}");
    expect(stored.headers).toEqual({ "x-key": "{{ secrets.api }}" });
    const fork = await forkWith({ ...stored, query: { page: "2" } });
    await executeRun(world, fork.runId);
    expect(allowed.seen.map((seen) => [seen.url, seen.headers["x-key"]])).toEqual([
      ["/", VALUE],
      ["/?page=2", VALUE],
    ]);
    expect((await read(fork.runId)).steps[0]?.input).toContain("{{ secrets.api }}");
    await expect(forkWith({ url, query: { key: "{{ secrets.api }}" } })).rejects.toThrow(
      'changes.input refers to the secret "api", which step "call" does not use in "query"',
    );
    const elsewhere = await forkWith({ ...stored, url: `http://${other.host}/` });
    await executeRun(world, elsewhere.runId);
    expect(other.seen).toEqual([]);
    expect((await read(elsewhere.runId)).run.status).toBe("Failed");
    expect(await findLeaks(world, VALUE)).toEqual([]);
  });

  it("is audited when it is used: one line for each run, and the time of its last use", async () => {
    await setApi();
    const call = (id: string) => ({
      id,
      uses: "http_request",
      with: { url: `http://${allowed.host}/`, headers: { "x-key": "{{ secrets.api }}" } },
    });
    const { runId } = await runTool([call("one"), call("two"), { ...call("each"), forEach: "[1, 2]" }]);
    expect(allowed.seen).toHaveLength(4);
    const lines = await world.db.auditEntry.findMany({
      where: { organizationId: tenant.orgId, action: "secret.used" },
    });
    expect(lines).toMatchObject([{ actor: `run:${runId}`, actorName: "Caller", subjectName: "api" }]);
    const secret = await world.db.secret.findFirstOrThrow({ where: { organizationId: tenant.orgId } });
    expect(secret.lastUsedAt).toEqual(world.clock.now());
  });

  it("is put in again by the worker that takes the run over, and still audited once", async () => {
    await setApi();
    const runId = await startTool([
      {
        id: "out",
        uses: "http_request",
        with: { url: "http://gone.test/", headers: { "x-key": "{{ secrets.api }}" } },
        onError: "continue",
      },
      {
        id: "again",
        uses: "http_request",
        with: { url: `http://${allowed.host}/`, headers: { "x-key": "{{ secrets.api }}" } },
      },
    ]);
    const beside = await createWorld({
      beside: world,
      fetch: async (...call) => {
        if (String(call[0]).includes(allowed.host)) await replaceWorker(beside);
        return egress.fetch(...call);
      },
    });
    await admitWaitingRuns(world, { worker: null, slots: 1_000 });
    await expect(executeSegment(beside, runId)).rejects.toThrow(WorkerLost);
    await beside.close();
    await executeRun(world, runId);
    expect((await read(runId)).run).toMatchObject({ status: "Completed" });
    expect(allowed.seen.at(-1)?.headers["x-key"]).toBe(VALUE);
    const where = { organizationId: tenant.orgId, action: "secret.used" };
    expect(await world.db.auditEntry.count({ where })).toBe(1);
  });
});

describe("a secret does not go", () => {
  const failing = async (input: ToolInput["steps"][number]["with"]) => {
    const { run, steps } = await runTool([{ id: "out", uses: "http_request", with: input }]);
    expect(run.status).toBe("Failed");
    expect(await findLeaks(world, VALUE)).toEqual([]);
    return steps[0]?.errorMessage;
  };

  it("to a host that is not allowed", async () => {
    await setApi();
    const headers = { "x-key": "{{ secrets.api }}" };
    expect(await failing({ url: `http://${other.host}/`, headers })).toBe(
      `The secret "api" may not be sent to ${other.host}. Its allowed hosts: ${allowed.host}.`,
    );
    expect(other.seen).toEqual([]);
  });

  it("to a host that an admin added, until the value is set again; the others go on working", async () => {
    await setApi();
    const admin = await createMember(world, tenant, "admin");
    const hosts = [allowed.host, other.host];
    await changeSecretRules(world, admin, { name: "api", hosts, expiresAt: null, replaces: {} });
    const headers = { "x-key": "{{ secrets.api }}" };
    const send = { url: `http://${other.host}/`, headers };
    expect(await failing(send)).toBe(
      `The secret "api" may not be sent to ${other.host} yet: the host was added after the value was set. Set the value again to confirm the host.`,
    );
    expect(other.seen).toEqual([]);
    const call = async (input: ToolInput["steps"][number]["with"]) =>
      (await runTool([{ id: "out", uses: "http_request", with: input }])).run.status;
    expect(await call({ url: `http://${allowed.host}/`, headers })).toBe("Completed");
    await setSecret(world, operator(), { secret: { name: "api", value: VALUE, hosts } });
    expect(await call(send)).toBe("Completed");
    expect(other.seen[0]?.headers["x-key"]).toBe(VALUE);
    await changeSecretRules(world, admin, {
      name: "api",
      hosts: [other.host],
      expiresAt: null,
      replaces: {},
    });
    expect(await failing({ url: `http://${allowed.host}/`, headers })).toContain(
      `Its allowed hosts: ${other.host}.`,
    );
  });

  it("with a redirect to a host that is not allowed: a header is dropped, a body or an address stops the call", async () => {
    await setApi();
    const url = `http://${allowed.host}/redirect`;
    const query = { to: `http://${other.host}/` };
    const headers = { "x-key": "{{ secrets.api }}", accept: "{{ secrets.api }}" };
    const { run } = await runTool([{ id: "out", uses: "http_request", with: { url, query, headers } }]);
    expect(run.status).toBe("Completed");
    expect(allowed.seen[0]?.headers["x-key"]).toBe(VALUE);
    expect(other.seen).toHaveLength(1);
    expect(JSON.stringify(other.seen)).not.toContain(VALUE.slice(0, 8));

    expect(await failing({ url, query, method: "POST", body: { key: "{{ secrets.api }}" } })).toContain(
      `The secret "api" may not be sent to ${other.host}.`,
    );
    const inAddress = { to: `http://${other.host}/?key={{ secrets.api }}` };
    expect(await failing({ url, query: inAddress })).toContain(
      `redirects to ${other.host} with the secret "api" in the address`,
    );
    expect(other.seen).toHaveLength(1);
  });

  it("without encryption to a host that the operator does not list", async () => {
    await setSecret(world, operator(), { secret: { name: "api", value: VALUE, hosts: ["plain.test"] } });
    expect(await failing({ url: "http://plain.test/", headers: { a: "{{ secrets.api }}" } })).toBe(
      'The secret "api" is sent over https only, and http://plain.test is not https.',
    );
  });

  it("after it expired, was removed, or before it has a value", async () => {
    const expiresAt = new Date(world.clock.now().getTime() + 1_000).toISOString();
    const call = { url: `http://${allowed.host}/`, headers: { a: "{{ secrets.api }}" } };
    await setApi(tenant, { expiresAt });
    const early = await startTool([{ id: "out", uses: "http_request", with: call }]);
    world.clock.advance(2_000);
    await executeRun(world, early);
    expect((await read(early)).steps[0]?.errorMessage).toBe(
      `The secret "api" expired at ${expiresAt}. Set a new value.`,
    );
    const late = await startTool([{ id: "out", uses: "http_request", with: call }]);
    await removeSecret(world, operator(), { name: "api" });
    await executeRun(world, late);
    expect((await read(late)).steps[0]?.errorMessage).toContain('The secret "api" no longer exists.');
    expect(allowed.seen).toEqual([]);
  });

  it("to another organization, whatever its rows say", async () => {
    await setApi();
    const mine = await world.db.secret.findFirstOrThrow({ where: { organizationId: tenant.orgId } });
    tenant = await createTenant(world);
    const call = { url: `http://${allowed.host}/`, headers: { a: "{{ secrets.api }}" } };
    const steps = [{ id: "out", uses: "http_request", with: call }];
    await expect(
      saveTool(world, operator(), { definition: { slug: "thief", name: "Thief", steps } }),
    ).rejects.toMatchObject({
      issues: [{ path: "/steps/0/with/headers/a", message: 'there is no secret "api"; there are none yet' }],
    });
    await setSecret(world, operator(), {
      secret: { name: "api", value: "a value of their own", hosts: [allowed.host] },
    });
    await world.db.secret.updateMany({
      where: { organizationId: tenant.orgId },
      data: { sealed: mine.sealed },
    });
    expect(await failing(call)).toContain('The secret "api" cannot be read');
    expect(allowed.seen).toEqual([]);
  });
});

describe("text that only looks like a reference", () => {
  it("stays text when a model or a caller sends it", async () => {
    await setApi();
    const headers = { "x-key": "{{ secrets.api }}" };
    const url = `http://${allowed.host}/model`;
    const call = { id: "c1", name: "http_request", arguments: JSON.stringify({ url, headers }) };
    script = [{ content: "", toolCalls: [call], finishReason: "tool_calls" }, { content: "Done." }];
    const runId = await start("agent", tenant.agentId, "Tell me {{ secrets.api }}");
    await executeRun(world, runId);
    expect((await read(runId)).run.status).toBe("Completed");
    expect(allowed.seen[0]?.headers["x-key"]).toBe("{{ secrets.api }}");

    const { run } = await runTool(
      [{ id: "out", uses: "http_request", with: { url, method: "POST", body: "{{ input.text }}" } }],
      { text: "{{ secrets.api }}" },
    );
    expect(run.status).toBe("Completed");
    expect(allowed.seen[1]?.body).toBe("{{ secrets.api }}");
  });
});
