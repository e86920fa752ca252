import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startClientService } from "@/testing/client-service";
import { callCommandLine } from "@/testing/command-line";
import { openScriptedServer } from "@/testing/servers/scripted-server";

let service: Awaited<ReturnType<typeof startClientService>>;
let folder: string;
beforeAll(async () => {
  service = await startClientService();
  folder = await mkdtemp(join(tmpdir(), "stepwell-api-"));
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

function call(...argv: string[]) {
  const { STEPWELL_URL: url, STEPWELL_KEY: key } = service.env;
  return callCommandLine(null, ["api", ...argv, "--url", url, "--key", key]);
}

it("calls operations with parameters, headers and a body, and prints the service's answer", async () => {
  const { TOOL_ID: toolId } = service.env;
  const options = ["--body", '{"sku":"a-17"}', "--header", 'X-Metadata: {"order":"17"}'];
  const started = await call("call", "runTool", `toolId=${toolId}`, ...options);
  expect(started).toMatchObject({ code: 0, err: "" });
  const { id } = JSON.parse(started.out);
  const followed = await call("follow", "tool", id);
  const events = followed.out.trim().split("\n");
  expect(events.map((line) => JSON.parse(line).type).at(-1)).toBe("run.completed");
  const listed = await call("call", "listRuns", "status=Completed", "metadata.order=17");
  expect(JSON.parse(listed.out).data).toEqual([expect.objectContaining({ id })]);
  expect(await call("call", "getToolRunStatus", `toolRunId=${id}`)).toMatchObject({ code: 0 });
});

it("repeats a start with the key of the caller, whatever the case of the header's name", async () => {
  const { TOOL_ID: toolId } = service.env;
  const start = async (header: string) => {
    const options = ["--body", '{"sku":"b-4"}', "--header", header];
    const { out } = await call("call", "runTool", `toolId=${toolId}`, ...options);
    return JSON.parse(out).id;
  };
  const id = await start("idempotency-key: order-17");
  expect([await start("idempotency-key: order-17"), await start("Idempotency-Key: order-17")]).toEqual([
    id,
    id,
  ]);
});

it("applies and exports the organization of the key", async () => {
  const file = join(folder, "acme.yaml");
  const definition = `organizations:
  - slug: clients
    agents: [{ slug: fresh, name: Fresh, model: m }]
    schedules: [{ slug: daily, agent: fresh, cron: 0 8 * * *, message: "Hello\\n\\n\\n" }]
`;
  await writeFile(file, definition);
  const dry = await call("apply", file, "--dry-run");
  expect(JSON.parse(dry.out).definitions).toContainEqual(
    expect.objectContaining({ slug: "fresh", saved: "created", id: null }),
  );
  expect((await call("export")).out).not.toContain("fresh");
  expect(JSON.parse((await call("apply", file)).out)).toMatchObject({ dryRun: false });
  const exported = await call("export");
  expect(exported.out).toContain("slug: fresh");
  await writeFile(file, exported.out);
  const again = JSON.parse((await call("apply", file)).out);
  expect(again.definitions).toContainEqual(expect.objectContaining({ slug: "daily", saved: "unchanged" }));
});

it("repeats an apply only if it changes nothing, because its answer shows secrets only once", async () => {
  const server = await openScriptedServer({ status: 503 }, { status: 200, body: { dryRun: true } });
  const apply = (...options: string[]) =>
    callCommandLine(null, ["api", "apply", "-", ...options, "--url", server.url, "--key", "k-1"]);
  try {
    expect(await apply()).toMatchObject({ code: 1, out: "" });
    expect(server.requests).toHaveLength(1);
    server.requests.length = 0;
    expect(await apply("--dry-run")).toMatchObject({ code: 0, err: "" });
    expect(server.requests).toHaveLength(2);
  } finally {
    await server.close();
  }
});

it("takes the service and the key from the caller's environment, and files from its folder", async () => {
  const { STEPWELL_URL: url, STEPWELL_KEY: key } = service.env;
  await writeFile(join(folder, "nothing.yaml"), "organizations: [{ slug: clients }]");
  const argv = ["api", "apply", "nothing.yaml", "--dry-run"];
  expect(await callCommandLine(null, argv, { caller: { folder, url, key } })).toMatchObject({ code: 0 });
  expect(await callCommandLine(null, argv, { caller: { folder: "scripts", url, key } })).toMatchObject({
    code: 1,
    err: "Could not read nothing.yaml: the file does not exist.\n",
  });
  expect(await callCommandLine(null, argv, { caller: { folder, url } })).toMatchObject({
    code: 2,
    err: expect.stringContaining("--key or STEPWELL_KEY is missing."),
  });
});

it("explains wrong usage and rejected calls", async () => {
  const { STEPWELL_URL: url, TOOL_ID: toolId } = service.env;
  expect(await call("call", "startTool")).toMatchObject({
    code: 2,
    err: expect.stringContaining('There is no operation "startTool". See api operations.'),
  });
  expect(await call("call", "runTool")).toMatchObject({
    code: 2,
    err: expect.stringContaining("toolId=… is missing."),
  });
  expect(await call("call", "runTool", `toolId=${toolId}`, "--body", "{}")).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringMatching(/\(invalid_request\)\n {2}\S*sku/),
  });
  const wrongKey = ["api", "export", "--url", url, "--key", "sw_live_wrong"];
  expect(await callCommandLine(null, wrongKey)).toMatchObject({
    code: 1,
    err: expect.stringContaining("(unauthenticated)"),
  });
  expect(await callCommandLine(null, ["api", "export", "--url", "acme"])).toMatchObject({ code: 2 });
});

it("lists the operations", async () => {
  const { out } = await callCommandLine(null, ["api", "operations"]);
  expect(out).toMatch(/^runAgent +POST +\/v1\/agents\/run\/\{agentId\}$/m);
});
