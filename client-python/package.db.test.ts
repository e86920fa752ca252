// @module-tag once
import { execFile, spawnSync } from "node:child_process";
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  expectWholeTree,
  readClientSamples,
  SAMPLE_OUTPUTS,
  startClientService,
} from "@/testing/client-service";
import { openCuttingProxy } from "@/testing/servers/cutting-proxy";
import { openScriptedServer, type ScriptedAnswer } from "@/testing/servers/scripted-server";

/**
 * The package as integrators get it, with a real service. Needs python3 of version 3.10 or later. If pip and setuptools
 * are there, the package is installed in an empty folder; otherwise Python reads its source.
 */

const run = promisify(execFile);
const succeeds = (code: string) => spawnSync("python3", ["-c", code]).status === 0;
const hasPython = succeeds("import sys; sys.exit(sys.version_info < (3, 10))");
if (!hasPython)
  console.warn("The Python client is not tested: there is no python3 of version 3.10 or later.");

const samples = readClientSamples("python");
const SECRET = `whsec_${Buffer.from("\0\x01 a secret of 24 bytes").toString("base64")}`;
const CALLBACK = '{"type":"run.completed","timestamp":"2026-11-26T10:00:00.000Z","data":{"name":"Café"}}';
const RUN_ID = "019aa5d1-a2c4-7d11-9b6e-3f1c5e7a9b02";
const STARTED = { status: 200, body: { success: true, id: RUN_ID, status: "Pending", message: "" } };

describe.skipIf(!hasPython)("the Python client", () => {
  let folder: string;
  let modules: string;
  let service: Awaited<ReturnType<typeof startClientService>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "stepwell-python-"));
    // A build writes into the source.
    const source = join(folder, "source");
    await cp(import.meta.dirname, source, { recursive: true });
    modules = join(source, "src");
    if (succeeds("import pip, setuptools, wheel") || succeeds("import pip, setuptools.command.bdist_wheel")) {
      modules = join(folder, "installed");
      const options = ["--no-index", "--no-build-isolation", "--no-deps", "--quiet", "--target", modules];
      await run("python3", ["-m", "pip", "install", ...options, source]);
    }
    service = await startClientService();
  });
  afterAll(async () => {
    await service?.stop();
    await rm(folder, { recursive: true });
  });

  async function runPython(code: string, parameters: string[] = []): Promise<string> {
    const env = {
      ...process.env,
      ...service.env,
      CALLBACK_SECRET: SECRET,
      PYTHONPATH: modules,
      no_proxy: "127.0.0.1",
    };
    return (await run("python3", ["-c", code, ...parameters], { env, cwd: folder })).stdout;
  }

  it("has its modules and types", async () => {
    const files = await readdir(join(modules, "stepwell_client"));
    expect(files).toEqual(expect.arrayContaining(["__init__.py", "models.py", "py.typed"]));
  });

  it.each(Object.entries(SAMPLE_OUTPUTS))("runs the sample %s of the guide", async (name, output) => {
    expect(await runPython(samples.get(name) ?? "raise SystemExit(name)")).toMatch(output);
  });

  it("has all samples of the guide", () => {
    expect([...samples.keys()].sort()).toEqual([...Object.keys(SAMPLE_OUTPUTS), "callback"].sort());
  });

  it("checks callbacks that standardwebhooks signs", async () => {
    const at = new Date();
    const signature = new Webhook(SECRET).sign("msg_1", at, CALLBACK);
    const other = new Webhook(`whsec_${Buffer.from("another secret").toString("base64")}`);
    const seconds = Math.floor(at.getTime() / 1_000);
    const headers = { "Webhook-Id": "msg_1", "Webhook-Timestamp": String(seconds) };
    const old = new Date((seconds - 301) * 1_000);
    const calls: [body: string, headers: Record<string, string>][] = [
      [CALLBACK, { ...headers, "Webhook-Signature": signature }],
      [CALLBACK, { ...headers, "Webhook-Signature": `${other.sign("msg_1", at, CALLBACK)} ${signature}` }],
      [`${CALLBACK} `, { ...headers, "Webhook-Signature": signature }],
      [CALLBACK, { ...headers, "Webhook-Signature": other.sign("msg_1", at, CALLBACK) }],
      [CALLBACK, headers],
      [
        CALLBACK,
        {
          ...headers,
          "Webhook-Timestamp": String(seconds - 301),
          "Webhook-Signature": new Webhook(SECRET).sign("msg_1", old, CALLBACK),
        },
      ],
    ];
    const code = `${samples.get("callback")}
import json, sys
from stepwell_client import CallbackError
for body, headers in json.loads(sys.argv[1]):
    try:
        print(json.dumps(vars(read_callback(headers, body.encode()))))
    except CallbackError:
        print("null")`;
    const lines = (await runPython(code, [JSON.stringify(calls)])).trim().split("\n");
    const callback = { id: "msg_1", ...JSON.parse(CALLBACK) };
    expect(lines.map((line) => JSON.parse(line))).toEqual([callback, callback, null, null, null, null]);
  });

  it("repeats a start after 429, 500 and a lost answer, with one key, and not before Retry-After", async () => {
    const rejected = { status: 429, headers: { "Retry-After": "1" } };
    const server = await openScriptedServer(rejected, { status: 500 }, null, STARTED);
    const code = `import sys
from stepwell_client import StepwellClient
print(StepwellClient(sys.argv[1], "k-1").run_agent("a/b", "Hello", metadata={"name": "Café"}).id)`;
    expect(await runPython(code, [server.url])).toBe(`${RUN_ID}\n`);
    await server.close();
    expect(server.requests.map(({ path, body }) => [path, JSON.parse(body)])).toEqual(
      Array.from({ length: 4 }, () => ["/v1/agents/run/a%2Fb", { userMessage: "Hello" }]),
    );
    const keys = new Set(server.requests.map(({ headers }) => headers["idempotency-key"]));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect(server.requests[0]?.headers["x-metadata"]).toBe('{"name": "Caf\\u00e9"}');
    const [first, second] = server.requests.map(({ atMs }) => atMs);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  it("follows no redirect with its key, and names an answer that did not come from Stepwell", async () => {
    const elsewhere = await openScriptedServer(STARTED);
    const server = await openScriptedServer(
      { status: 307, headers: { Location: elsewhere.url } },
      { status: 502, body: "<html>" },
      null,
    );
    const code = `import sys
from stepwell_client import ApiError, ConnectionFailedError, StepwellClient
for _ in range(3):
    try:
        StepwellClient(sys.argv[1], "k-1", retries=0).run_tool("x", idempotency_key="order-42")
    except ApiError as error:
        print(error.status, error.code, error.idempotency_key)
    except ConnectionFailedError as error:
        print(error.idempotency_key)`;
    expect(await runPython(code, [server.url])).toBe("307 None order-42\n502 None order-42\norder-42\n");
    expect(elsewhere.requests).toEqual([]);
    await server.close();
    await elsewhere.close();
  });

  it("waits for a run again and again, and not longer than its timeout", async () => {
    const state = (status: string) => ({ status: 200, body: { id: RUN_ID, status, errorMessage: null } });
    const server = await openScriptedServer(state("Pending"), state("Completed"), state("Running"));
    const code = `import sys
from stepwell_client import StepwellClient
run = StepwellClient(sys.argv[1], "k-1").agent_run("x")
print(run.wait().status)
try:
    run.wait(timeout=0.2)
except TimeoutError:
    print("late")`;
    expect(await runPython(code, [server.url])).toBe("Completed\nlate\n");
    await server.close();
    expect(server.requests.slice(0, 2).map(({ path }) => path)).toEqual(
      Array.from({ length: 2 }, () => "/v1/agents/run/x/status?wait=30"),
    );
  });

  it("ends a wait in time, also if the service neither answers nor can be reached", async () => {
    const silent = await openScriptedServer(() => {});
    const failing = await openScriptedServer({ status: 503 });
    const code = `import sys, time
from stepwell_client import ApiError, StepwellClient
start = time.monotonic()
for url, ended in zip(sys.argv[1:], (TimeoutError, ApiError)):
    for wait in (StepwellClient(url, "k-1").agent_run("x").wait, StepwellClient(url, "k-1").tool_run("x").output):
        try:
            wait(timeout=0.1)
        except ended as error:
            print(type(error).__name__)
print(time.monotonic() - start < 20)`;
    expect((await runPython(code, [silent.url, failing.url])).trim().split("\n")).toEqual([
      "TimeoutError",
      "TimeoutError",
      "ApiError",
      "ApiError",
      "True",
    ]);
    expect([silent.requests.length, failing.requests.length]).toEqual([2, 2]);
    await silent.close();
    await failing.close();
  });

  it("reads a list to its end, filtered by metadata", async () => {
    const page = (ids: string[], nextCursor: string | null) => ({
      status: 200,
      body: { data: ids.map((id) => ({ id })), nextCursor },
    });
    const server = await openScriptedServer(page(["1", "2"], "c-2"), page(["3"], null));
    const code = `import sys
from stepwell_client import StepwellClient
client = StepwellClient(sys.argv[1], "k-1")
print([run.id for run in client.each(client.operations.list_runs, metadata={"customer": "acme"}, children=True)])`;
    expect(await runPython(code, [server.url])).toBe("['1', '2', '3']\n");
    await server.close();
    expect(server.requests.map(({ path }) => path)).toEqual([
      "/v1/runs?metadata.customer=acme&children=true",
      "/v1/runs?metadata.customer=acme&children=true&cursor=c-2",
    ]);
  });

  it("repeats no text after a dropped connection, and starts it again if it is another one", async () => {
    const delta = (text: string) => `event: text.delta\ndata: ${JSON.stringify({ iteration: 1, text })}\n\n`;
    const stream =
      (text: string): ScriptedAnswer =>
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(text, () => response.destroy());
      };
    const server = await openScriptedServer(
      stream(`retry: 1000\n\n${delta("Hel")}${delta("lo")}id: 4\nevent: cut`),
      stream(`${delta("Hello")}${delta(" there")}`),
      stream(`${delta("Good day")}id: 4\nevent: run.completed\ndata: {}\n\n`),
    );
    const code = `import sys
from stepwell_client import StepwellClient
for event in StepwellClient(sys.argv[1], "k-1").agent_run("x").events(since=3):
    print(event.id, event.type, event.data.get("text"))`;
    expect((await runPython(code, [server.url])).trim().split("\n")).toEqual([
      "None text.delta Hel",
      "None text.delta lo",
      "None text.delta  there",
      "None text.reset None",
      "None text.delta Good day",
      "4 run.completed None",
    ]);
    await server.close();
    expect(server.requests.map(({ headers }) => headers["last-event-id"])).toEqual(["3", "3", "3"]);
  });

  it("continues the events of a real service through dropped connections", async () => {
    const proxy = await openCuttingProxy(service.origin, 15_000);
    const code = `import json, os, sys
from stepwell_client import StepwellClient
url, tool_id = sys.argv[1:]
key = os.environ["STEPWELL_KEY"]
run = StepwellClient(os.environ["STEPWELL_URL"], key).run_tool(tool_id)
events = StepwellClient(url, key).tool_run(run.id).events
ids = [event.id for event in events(since=0)]
assert list(events(since=ids[-1])) == []
print(json.dumps(ids))`;
    const ids = z.array(z.number()).parse(JSON.parse(await runPython(code, [proxy.url, service.manyId])));
    const connections = proxy.connections();
    await proxy.close();
    expect(ids).toEqual(ids.map((_, n) => n + 1));
    expect(ids.length).toBeGreaterThan(240);
    expect(connections).toBeGreaterThan(2);
  });

  it("follows the runs that a run calls through dropped connections", async () => {
    const proxy = await openCuttingProxy(service.origin, 15_000);
    const code = `import json, os, sys
from stepwell_client import StepwellClient
url, tool_id = sys.argv[1:]
key = os.environ["STEPWELL_KEY"]
run = StepwellClient(os.environ["STEPWELL_URL"], key).run_tool(tool_id)
print(json.dumps([
    {"id": event.id, "type": event.type, "runs": [part.tool_run_id for part in event.path]}
    for event in StepwellClient(url, key).tool_run(run.id).events(since=0, children=True)
]))`;
    const read = await runPython(code, [proxy.url, service.nestedId]);
    const connections = proxy.connections();
    await proxy.close();
    expectWholeTree(JSON.parse(read));
    expect(connections).toBeGreaterThan(2);
  });

  it("tells a filtered webhook call from one that started a run", async () => {
    const answer = (success: boolean, runId: string | null) => ({
      status: 200,
      body: { success, runId, type: "agent" },
    });
    const server = await openScriptedServer(answer(false, null), answer(true, RUN_ID));
    const code = `import sys
from stepwell_client import StepwellClient
operations = StepwellClient(sys.argv[1], "k-1").operations
for _ in range(2):
    print(repr(operations.receive_webhook("whk_1", {})))`;
    const read = (await runPython(code, [server.url])).trim().split("\n");
    await server.close();
    expect(read).toEqual([
      "WebhookFiltered(success=False, run_id=None, type='agent')",
      `WebhookAccepted(success=True, run_id='${RUN_ID}', type='agent')`,
    ]);
  });

  it("exports a file that can be applied, and YAML if that is asked for", async () => {
    const code = `import os
from stepwell_client import StepwellClient
operations = StepwellClient(os.environ["STEPWELL_URL"], os.environ["STEPWELL_KEY"]).operations
file = operations.export_definition_file()
print(file.organizations[0]["slug"])
applied = operations.apply_definition_file(file, dry_run=True)
print({definition.saved for definition in applied.definitions})
print(operations.export_definition_file(format="yaml"))`;
    expect(await runPython(code)).toMatch(/^clients\n{'unchanged'}\n[\s\S]*^organizations:\n/m);
  });
});
