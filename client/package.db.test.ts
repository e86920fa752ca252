import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { build, transform } from "esbuild";
import { Webhook } from "standardwebhooks";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  expectWholeTree,
  readClientSamples,
  SAMPLE_OUTPUTS,
  startClientService,
} from "@/testing/client-service";
import { openCuttingProxy } from "@/testing/servers/cutting-proxy";

/** The package as integrators get it: packed, installed in an empty folder, and used with a real service. */

const run = promisify(execFile);
const samples = readClientSamples("ts");
const SECRET = `whsec_${Buffer.from("\0\x01 a secret of 24 bytes").toString("base64")}`;
const CALLBACK = '{"type":"run.completed","timestamp":"2026-11-26T10:00:00.000Z","data":{"id":"x"}}';

let folder: string;
let service: Awaited<ReturnType<typeof startClientService>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "stepwell-client-"));
  await run("npm", ["pack", "--pack-destination", folder], { cwd: import.meta.dirname });
  const [tarball = ""] = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  await writeFile(join(folder, "package.json"), '{ "type": "module", "private": true }');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", `./${tarball}`], { cwd: folder });
  for (const [name, code] of samples) {
    await writeFile(join(folder, `${name}.ts`), code);
    await writeFile(join(folder, `${name}.mjs`), (await transform(code, { loader: "ts" })).code);
  }
  service = await startClientService();
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true });
});

async function runProgram(name: string, node = process.execPath): Promise<string> {
  const env = { ...process.env, ...service.env, CALLBACK_SECRET: SECRET };
  return (await run(node, [join(folder, `${name}.mjs`)], { env })).stdout;
}

function signCallback() {
  const at = new Date();
  return {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
    "webhook-signature": new Webhook(SECRET).sign("msg_1", at, CALLBACK),
  };
}

it("has no dependencies and no other files than its modules and types", async () => {
  const installed = await readdir(join(folder, "node_modules/@stepwell/client"));
  expect(installed.sort()).toEqual(["README.md", "dist", "package.json"]);
  expect((await readdir(join(folder, "node_modules"))).filter((name) => !name.startsWith("."))).toEqual([
    "@stepwell",
  ]);
});

describe("the samples of the guide", () => {
  it.each(Object.entries(SAMPLE_OUTPUTS))("%s", async (name, output) => {
    expect(await runProgram(name)).toMatch(output);
  });

  it("callback", async () => {
    const request = { method: "POST", headers: signCallback(), body: CALLBACK };
    const program = `import { readCallback } from "./callback.mjs";
      console.log(JSON.stringify(await readCallback(new Request("http://localhost", ${JSON.stringify(request)}))));`;
    await writeFile(join(folder, "receive.mjs"), program);
    expect(JSON.parse(await runProgram("receive"))).toEqual({ id: "msg_1", ...JSON.parse(CALLBACK) });
  });

  it("are all run", () => {
    expect([...samples.keys()].sort()).toEqual([...Object.keys(SAMPLE_OUTPUTS), "callback"].sort());
  });

  it.each(["20.19", "24"])("run on Node %s", { tags: "long" }, async (version) => {
    const found = await run(process.execPath, ["tools/node/folder.mjs", version]);
    const node = join(found.stdout.trim(), "node");
    for (const [name, output] of Object.entries(SAMPLE_OUTPUTS)) {
      expect(await runProgram(name, node)).toMatch(output);
    }
  });

  it("compile under strict rules", { tags: "long" }, async () => {
    await symlink(join(process.cwd(), "node_modules/@types"), join(folder, "node_modules/@types"));
    const program = ts.createProgram(
      [...samples.keys()].map((name) => join(folder, `${name}.ts`)),
      {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.NodeNext,
        lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: true,
        noEmit: true,
        types: ["node"],
      },
    );
    const issues = ts.getPreEmitDiagnostics(program);
    expect(issues.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))).toEqual([]);
  });
});

it("continues the events of a real service through dropped connections", async () => {
  const proxy = await openCuttingProxy(service.origin, 15_000);
  const program = `import { StepwellClient } from "@stepwell/client";
    const [url, toolId] = process.argv.slice(2);
    const key = process.env.STEPWELL_KEY;
    const run = await new StepwellClient({ url: process.env.STEPWELL_URL, key }).runTool(toolId);
    const ids = [];
    for await (const event of new StepwellClient({ url, key }).toolRun(run.id).events({ since: 0 })) ids.push(event.id);
    console.log(JSON.stringify(ids));`;
  await writeFile(join(folder, "follow.mjs"), program);
  const env = { ...process.env, ...service.env };
  const { stdout } = await run(process.execPath, [join(folder, "follow.mjs"), proxy.url, service.manyId], {
    env,
  });
  const connections = proxy.connections();
  await proxy.close();
  const ids = z.array(z.number()).parse(JSON.parse(stdout));
  expect(ids).toEqual(ids.map((_, n) => n + 1));
  expect(ids.length).toBeGreaterThan(240);
  expect(connections).toBeGreaterThan(2);
});

it("follows the runs that a run calls through dropped connections", async () => {
  const proxy = await openCuttingProxy(service.origin, 15_000);
  const program = `import { StepwellClient } from "@stepwell/client";
    const [url, toolId] = process.argv.slice(2);
    const key = process.env.STEPWELL_KEY;
    const run = await new StepwellClient({ url: process.env.STEPWELL_URL, key }).runTool(toolId);
    const seen = [];
    const events = new StepwellClient({ url, key }).toolRun(run.id).events({ children: true, since: 0 });
    for await (const { id, type, path } of events) seen.push({ id, type, runs: path.map((part) => part.toolRunId) });
    console.log(JSON.stringify(seen));`;
  await writeFile(join(folder, "follow-tree.mjs"), program);
  const env = { ...process.env, ...service.env };
  const call = [join(folder, "follow-tree.mjs"), proxy.url, service.nestedId];
  const { stdout } = await run(process.execPath, call, { env });
  const connections = proxy.connections();
  await proxy.close();
  expectWholeTree(JSON.parse(stdout));
  expect(connections).toBeGreaterThan(2);
});

it("runs where only the globals of the web exist", async () => {
  const { outputFiles } = await build({
    stdin: { contents: 'export * from "@stepwell/client";', resolveDir: folder },
    bundle: true,
    write: false,
    format: "iife",
    globalName: "stepwell",
    platform: "browser",
  });
  const { STEPWELL_URL: url, STEPWELL_KEY: key, AGENT_ID: agentId } = service.env;
  const given = { url, key, agentId, secret: SECRET, headers: signCallback(), body: CALLBACK };
  const web = { AbortController, AbortSignal, Headers, TextDecoder, TextEncoder, URL, URLSearchParams };
  const functions = { atob, clearTimeout, crypto, fetch, setTimeout };
  const context = createContext({ ...web, ...functions, given });
  runInContext(outputFiles[0]?.text ?? "", context);
  const seen = await runInContext(
    `(async () => {
      const client = new stepwell.StepwellClient({ url: given.url, key: given.key });
      const types = [];
      const run = await client.runAgent(given.agentId, "What is 17 * 23?");
      for await (const event of run.events()) types.push(event.type);
      const output = await client.runAgent(given.agentId, "What is 17 * 23?").output();
      const { id } = await stepwell.verifyCallback(given.secret, given.headers, given.body);
      const wrong = await stepwell.verifyCallback(given.secret, given.headers, given.body + " ").catch((error) => error.name);
      return JSON.stringify({ types, output, id, wrong, signature: await stepwell.signWebhook("s3cret", "{}") });
    })()`,
    context,
  );
  expect(JSON.parse(String(seen))).toEqual({
    types: expect.arrayContaining(["snapshot", "run.completed"]),
    output: expect.stringContaining("391"),
    id: "msg_1",
    wrong: "CallbackError",
    signature: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});
