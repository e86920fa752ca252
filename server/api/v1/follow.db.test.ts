import { afterEach, describe, expect, it } from "vitest";
import { cancelRun } from "@/server/runs/cancel";
import { notifyRunChanged } from "@/server/runs/run-changes";
import { startRun } from "@/server/runs/start";
import { executeRun } from "@/testing/execute";
import { insertRun } from "@/testing/runs";
import { createTenant, openWorld, type Tenant } from "@/testing/world";
import { handleRest } from "../rest";

const world = await openWorld();
const other = await openWorld({ beside: world });
const tenant = await createTenant(world);

type Ask = { headers?: Record<string, string>; key?: string; signal?: AbortSignal };

async function ask(path: string, { headers = {}, key = tenant.key, signal }: Ask = {}) {
  const init = { headers: { "X-API-Key": key, ...headers }, ...(signal && { signal }) };
  const response = await handleRest(world, new Request(`http://stepwell.test${path}`, init));
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
}

const statusOf = (runId: string) => `/v1/agents/run/${runId}/status`;
const insertOpen = (kind: "agent" | "tool" = "agent") =>
  insertRun(world, tenant, { kind, status: "Pending" });
const waiting = () => world.endWaiters.size;

describe("wait", () => {
  afterEach(() => expect(waiting()).toBe(0));

  it("answers an ended run at once, with any time to wait", async () => {
    const done = await insertRun(world, tenant, { kind: "agent" });
    for (const seconds of [0, 30]) {
      expect((await ask(`${statusOf(done)}?wait=${seconds}`)).body.status).toBe("Completed");
    }
  });

  it("answers when the run ends in another process, and counts one read", async () => {
    const limited = await createTenant(world, { plan: { readsPerMinute: 2 } });
    const { orgId, key } = limited;
    const runId = await insertRun(world, limited, { kind: "agent", status: "Pending" });
    const answer = ask(`${statusOf(runId)}?wait=30`, { key });
    await expect.poll(waiting).toBe(1);
    await cancelRun(other, orgId, { runId, by: "Ada" });
    expect((await answer).body.status).toBe("Cancelled");
    expect((await ask(statusOf(runId), { key })).status).toBe(200);
    expect((await ask(statusOf(runId), { key })).status).toBe(429);
  });

  it("answers the state when the time is over, and does not answer for a step", async () => {
    const runId = await insertOpen("tool");
    const answer = ask(`/v1/tools/run/${runId}/status?wait=1`);
    await expect.poll(waiting).toBe(1);
    notifyRunChanged(other, { orgId: tenant.orgId, id: runId }, 2);
    expect((await answer).body.status).toBe("Pending");
  });

  it("ends all calls of a run at once", async () => {
    const runId = await insertOpen();
    const answers = Array.from({ length: 200 }, () => ask(`${statusOf(runId)}?wait=30`));
    await expect.poll(waiting).toBe(200);
    await cancelRun(other, tenant.orgId, { runId, by: "Ada" });
    expect(new Set((await Promise.all(answers)).map(({ body }) => body.status))).toEqual(
      new Set(["Cancelled"]),
    );
  });

  it.each([
    ["revoked", () => ({ revokedAt: world.clock.now() }), 401],
    ["limited to other targets", ({ toolId }: Tenant) => ({ targetIds: [toolId] }), 404],
  ])("ends when its key is %s", async (_name, data, status) => {
    const stranger = await createTenant(world);
    const runId = await insertRun(world, stranger, { kind: "agent", status: "Pending" });
    const answer = ask(`${statusOf(runId)}?wait=30`, { key: stranger.key });
    await expect.poll(waiting).toBe(1);
    await other.db.apiKey.update({ where: { id: stranger.apiKeyId }, data: data(stranger) });
    expect((await answer).status).toBe(status);
  });

  it("releases a client that leaves", async () => {
    const leave = new AbortController();
    const answer = ask(`${statusOf(await insertOpen())}?wait=30`, { signal: leave.signal });
    await expect.poll(waiting).toBe(1);
    leave.abort();
    await expect.poll(waiting).toBe(0);
    await answer;
  });

  it("ends at once for a client that has left", async () => {
    const gone = AbortSignal.abort();
    expect((await ask(`${statusOf(await insertOpen())}?wait=30`, { signal: gone })).status).toBe(200);
  });

  it("tells a foreign run like an unknown one, without waiting", async () => {
    const stranger = await createTenant(world);
    const runId = await insertRun(world, stranger, { kind: "agent", status: "Pending" });
    expect((await ask(`${statusOf(runId)}?wait=30`)).status).toBe(404);
  });

  it.each(["31", "-1", "1.5", "", "soon"])("rejects %j", async (seconds) => {
    const answer = await ask(`${statusOf(await insertOpen())}?wait=${seconds}`);
    expect([answer.status, answer.body.issues?.[0]?.path]).toEqual([400, "/wait"]);
  });

  it("ends when the process stops", async () => {
    const process = await openWorld({ beside: world });
    const runId = await insertOpen();
    const path = `http://stepwell.test${statusOf(runId)}?wait=30`;
    const answer = handleRest(process, new Request(path, { headers: { "X-API-Key": tenant.key } }));
    await expect.poll(() => process.endWaiters.size).toBe(1);
    process.endWaiters.close();
    expect(await (await answer).json()).toMatchObject({ status: "Pending" });
  });
});

describe("entity tags", () => {
  const pathsOf = (kind: string, runId: string) =>
    (kind === "agent" ? ["status", "details"] : ["status", "result"]).map(
      (view) => `/v1/${kind}s/run/${runId}/${view}`,
    );

  async function start(kind: "agent" | "tool"): Promise<string> {
    const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    const { runId } =
      kind === "agent"
        ? await startRun(world, operator, { kind, targetId: tenant.agentId, userMessage: "Hello" })
        : await startRun(world, operator, { kind, targetId: tenant.toolId, input: { a: 1, b: 2 } });
    return runId;
  }

  it.each(["agent", "tool"] as const)("of an %s run are weak until it ends, then strong", async (kind) => {
    const runId = await start(kind);
    for (const path of pathsOf(kind, runId)) {
      const first = await ask(path);
      const etag = first.headers.get("etag") ?? "";
      expect(etag).toMatch(/^W\/"[\w-]{27}"$/);
      world.clock.advance(5_000);
      // The duration of a running tool is not part of it.
      const again = await ask(path, { headers: { "If-None-Match": etag } });
      expect([again.status, again.body]).toEqual([304, null]);
      expect([again.headers.get("etag"), again.headers.get("content-type")]).toEqual([etag, null]);
    }
    await executeRun(world, runId);
    for (const path of pathsOf(kind, runId)) {
      const { headers } = await ask(path);
      const etag = headers.get("etag") ?? "";
      expect(etag).toMatch(/^"[\w-]{27}"$/);
      for (const known of [etag, `"x", W/${etag}`, "*"]) {
        expect((await ask(path, { headers: { "If-None-Match": known } })).status).toBe(304);
      }
      expect((await ask(path, { headers: { "If-None-Match": '"x"' } })).status).toBe(200);
    }
  });

  it("change with the run", async () => {
    const runId = await insertOpen();
    const before = (await ask(statusOf(runId))).headers.get("etag") ?? "";
    await cancelRun(other, tenant.orgId, { runId, by: "Ada" });
    const after = await ask(statusOf(runId), { headers: { "If-None-Match": before } });
    expect([after.status, after.body.status]).toEqual([200, "Cancelled"]);
  });
});
