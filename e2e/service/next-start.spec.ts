import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import {
  CONTRACT_CALLS,
  comparable,
  hook,
  ODD_PATHS,
  type Setting,
  sendCall,
  startAgent,
  startTool,
} from "@/testing/contract-calls";
import { applyDefinitions } from "@/testing/services/service-process";
import { joinPostgres } from "../../scripts/postgres/postgres.mjs";
import { createThrowaway, removeThrowaway } from "../../scripts/postgres/throwaway.mjs";
import { freePort } from "../../scripts/support/ports.mjs";
import { DIST, ROOT } from "../../scripts/support/project.mjs";
import { expect, type Organization, readApplied, signIn, test } from "../support/fixtures";
import { expectShortWaits } from "../support/short-waits";

const METRICS_TOKEN = "next-start-metrics-next-start-metrics";

test.describe.configure({ mode: "serial" });

let dataDir: string;
let env: Record<string, string>;
let next: ChildProcess;
let origin: string;
let organization: Organization;
let log = "";
const started: ChildProcess[] = [];

async function startNext(settings: Record<string, string>): Promise<{ child: ChildProcess; origin: string }> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const program = join(ROOT, "node_modules/next/dist/bin/next");
  const child = spawn(process.execPath, [program, "start", "-p", String(port)], {
    cwd: ROOT,
    env: { ...process.env, ...settings, APP_URL: origin },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  for (const output of [child.stdout, child.stderr]) {
    output?.on("data", (chunk) => {
      log += String(chunk);
    });
  }
  await expect
    .poll(async () => (await fetch(`${origin}/api/ready`).catch(() => null))?.status, { timeout: 60_000 })
    .toBe(200);
  return { child, origin };
}

async function endNext(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = once(child, "exit");
  child.kill(signal);
  await over;
}

test.beforeAll(async () => {
  dataDir = await createThrowaway();
  const { url, leave } = await joinPostgres(dataDir);
  env = {
    DATABASE_URL: url,
    STEPWELL_DATA_DIR: dataDir,
    STEPWELL_SECRET: "next-start-secret-next-start-secret",
    STEPWELL_NEXT_DIR: relative(ROOT, join(realpathSync(join(DIST, "current")), "next")),
  };
  ({ child: next, origin } = await startNext({ ...env, STEPWELL_METRICS_TOKEN: METRICS_TOKEN }));
  next.once("exit", () => void leave());
  const definitions = readFileSync("e2e/support/organization.yaml", "utf8");
  organization = readApplied(
    (await applyDefinitions(definitions, { env: { ...process.env, ...env, APP_URL: origin } }))[0],
  );
});
test.afterAll(async () => {
  for (const child of started) await endNext(child, "SIGKILL");
  await removeThrowaway(dataDir);
});

function settingOf({ apiKey, agentId, toolId, triggers }: Organization): Setting {
  const tokenOf = (slug: string) => new URL(triggers[slug] ?? "").pathname.split("/").at(-1) ?? "";
  const tokens = { token: tokenOf("inbound"), signedToken: tokenOf("doubles") };
  return { key: apiKey, agentId, toolId, toolInput: '{"number":21}', ...tokens };
}

for (const [status, name, make] of CONTRACT_CALLS) {
  test(`${status}: ${name}`, async ({ baseURL, organization: other }) => {
    const expected = comparable(await sendCall(baseURL ?? "", make(settingOf(other))));
    expect(expected.status).toBe(status);
    expect(comparable(await sendCall(origin, make(settingOf(organization))))).toEqual(expected);
  });
}

test("bodies in chunks, HEAD, OPTIONS and malformed escapes are answered alike", async ({
  baseURL,
  organization: other,
}) => {
  const answers = async (to: string, setting: Setting) => {
    const tooLarge = startTool(setting, { body: `{"a":"${"x".repeat(1024 * 1024)}"}` });
    const headers = { "X-API-Key": setting.key };
    const malformedPath = { method: "GET", path: "/v1/agents/run/%zz/status", headers };
    return {
      chunked: comparable(await sendCall(to, startAgent(setting), { chunked: true })),
      malformed: comparable(await sendCall(to, startTool(setting, { body: "{]" }), { chunked: true })),
      tooLarge: comparable(await sendCall(to, tooLarge, { chunked: true })),
      webhook: comparable(await sendCall(to, hook(setting.token), { chunked: true })),
      head: comparable(await sendCall(to, { ...malformedPath, method: "HEAD" })),
      options: comparable(await sendCall(to, { ...malformedPath, method: "OPTIONS" })),
      trace: comparable(await sendCall(to, { ...malformedPath, method: "TRACE" })),
      unusual: comparable(await sendCall(to, { ...malformedPath, method: "PROPFIND" })),
      escape: comparable(await sendCall(to, malformedPath)),
      health: comparable(await sendCall(to, { method: "GET", path: "/api/health", headers: {} })),
      ready: comparable(await sendCall(to, { method: "GET", path: "/api/ready", headers: {} })),
    };
  };
  expect(await answers(origin, settingOf(organization))).toEqual(
    await answers(baseURL ?? "", settingOf(other)),
  );
});

for (const path of ODD_PATHS) {
  test(`${path}: the contract's 404`, async () => {
    for (const method of ["GET", "POST"]) {
      const answer = await sendCall(origin, { method, path, headers: {} });
      expect([answer.status, answer.headers.location]).toEqual([404, undefined]);
      expect(JSON.parse(answer.text)).toMatchObject({ success: false, code: "not_found" });
    }
  });
}

test("runs of agents and tools complete, and a signed-in person sees them", async ({ page }) => {
  const setting = settingOf(organization);
  const headers = { "X-API-Key": setting.key };
  for (const [kind, call] of [
    ["agents", startAgent(setting, { body: '{"userMessage":"What is 6 * 7?"}' })],
    ["tools", startTool(setting)],
  ] as const) {
    const { id } = JSON.parse((await sendCall(origin, call)).text);
    const path = `/v1/${kind}/run/${id}/status`;
    const read = async () =>
      JSON.parse((await sendCall(origin, { method: "GET", path, headers })).text).status;
    await expect.poll(read).toBe("Completed");
  }
  const answer = await page.goto(`${origin}/sign-in`);
  expect(answer?.headers()["content-security-policy"]).toMatch(/script-src 'nonce-[^']+' 'strict-dynamic'/);
  await signIn(page, organization.owner, origin);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
});

test("a scrape with the token gets what the process counted", async () => {
  const scrape = (token: string) =>
    fetch(`${origin}/api/metrics`, { headers: { Authorization: `Bearer ${token}` } });
  expect((await scrape("another")).status).toBe(401);
  const text = await (await scrape(METRICS_TOKEN)).text();
  for (const sample of [
    /^stepwell_runs_ended_total\{kind="agent",status="Completed",source="api"\} [1-9]/m,
    /^stepwell_model_calls_total\{model="gpt-5-mini",outcome="completed"\} [1-9]/m,
    /^stepwell_http_requests_total\{route="rest",status="200"\} [1-9]/m,
    /^stepwell_http_requests_total\{route="pages",status="200"\} [1-9]/m,
    /^stepwell_rejections_total\{code="unauthenticated"\} [1-9]/m,
    /^stepwell_database_reachable 1$/m,
  ])
    expect(text).toMatch(sample);
});

test("metrics on their own port are of the same process, and not on the service's port", async () => {
  const port = await freePort();
  const { child, origin } = await startNext({ ...env, STEPWELL_METRICS_PORT: String(port) });
  await (await fetch(`${origin}/sign-in`)).text();
  await expect
    .poll(async () => (await fetch(`http://localhost:${port}/metrics`)).text())
    .toMatch(/^stepwell_http_requests_total\{route="pages",status="200"\} [1-9]/m);
  expect((await fetch(`${origin}/api/metrics`)).status).toBe(404);
  await endNext(child, "SIGTERM");
});

test("no request lets others wait, whatever its headers and target", { tag: "@long" }, async () => {
  test.setTimeout(600_000);
  await expectShortWaits(origin, { thorough: false });
});

test("each request and each run's end is a line of the log", () => {
  const entries = log.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  expect(entries.filter(({ message }) => message === "run ended").length).toBeGreaterThan(0);
  expect(entries.find(({ message, status }) => message === "request" && status === 413)).toMatchObject({
    method: "POST",
    requestId: expect.any(String),
    path: expect.stringMatching(/^\/v1\/tools\/run\//),
  });
});

test("SIGTERM gives the worker back and ends the process", async () => {
  await endNext(next, "SIGTERM");
  expect(log).not.toContain('"level":"error"');
});
