import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { GET as download } from "@/app/api/runs/[runId]/download/route";
import { GET } from "@/app/api/runs/export/route";
import { MIB } from "@/server/contract/sizes";
import { ProcessMemory } from "@/server/guard/limits/process-memory";
import { createMember, insertRun } from "@/testing/runs";
import { signInCookie, TEST_ORIGIN } from "@/testing/sign-in";
import { createTenant, openWorld } from "@/testing/world";

const RUNS = 12;
/** Larger than a chunk, so that each run is one. */
const OUTPUT = `"${"long ".repeat(250_000)}"`;

const world = await openWorld();
vi.stubGlobal("stepwellServices", world);
const tenant = await createTenant(world);
const cookie = await signInCookie(world, await createMember(world, tenant, "viewer"));
for (let n = 0; n < RUNS; n += 1) await insertRun(world, tenant, { output: OUTPUT });

let pieces = 0;
let onPiece = (): void => {};
beforeEach(() => {
  pieces = 0;
  const connect = world.pool.connect.bind(world.pool);
  // Only transactions check out a connection, and here these are the chunks.
  vi.spyOn(world.pool, "connect").mockImplementation((...args: unknown[]) => {
    if (args.length === 0) {
      pieces += 1;
      onPiece();
    }
    return Reflect.apply(connect, world.pool, args);
  });
  return () => vi.restoreAllMocks();
});

async function open() {
  const response = await GET(
    new Request(`${TEST_ORIGIN}/api/runs/export?format=json`, { headers: { cookie } }),
  );
  expect(response.status).toBe(200);
  const reader = response.body?.getReader();
  if (!reader) throw new Error("The export has no body.");
  return reader;
}

const atRest = () => world.pool.idleCount === world.pool.totalCount && world.pool.waitingCount === 0;

describe("an export", () => {
  it("reads only as fast as its reader, and holds no connection while it waits", async () => {
    const reader = await open();
    let text = "";
    for (let taken = 0; ; taken += 1) {
      await expect.poll(atRest).toBe(true);
      // The chunks taken, and one that is prefetched.
      expect(pieces).toBeLessThanOrEqual(taken + 1);
      const { value, done } = await reader.read();
      if (done) break;
      text += new TextDecoder().decode(value);
    }
    expect(pieces).toBe(RUNS);
    expect(JSON.parse(text)).toHaveLength(RUNS);
  });

  it("ends when its reader disconnects", async () => {
    const reader = await open();
    await reader.read();
    await reader.read();
    const started = new Promise<void>((resolve) => {
      onPiece = resolve;
    });
    const next = reader.read();
    // In the middle of a chunk.
    await started;
    await reader.cancel();
    expect(await next).toMatchObject({ done: true });
    await expect.poll(atRest).toBe(true);
    const read = pieces;
    expect(read).toBeLessThan(RUNS / 2);
    // If the first export were still reading, it would take less time than this complete export.
    const other = await open();
    while (!(await other.read()).done);
    expect(pieces).toBe(read + RUNS);
    // A download that its reader cancels is no error.
    expect(world.log.entries.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("ends incomplete and logs it when the database fails", async () => {
    const reader = await open();
    await reader.read();
    await reader.read();
    vi.spyOn(world.pool, "connect").mockRejectedValue(new Error("The database is away."));
    await expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).rejects.toThrow();
    expect(world.log.entries.some(({ message }) => message === "An export failed")).toBe(true);
    await expect.poll(atRest).toBe(true);
  });

  it("ends incomplete soon after its reader is no longer a member", async () => {
    const member = await createMember(world, tenant, "viewer");
    const headers = { cookie: await signInCookie(world, member) };
    const answer = await GET(new Request(`${TEST_ORIGIN}/api/runs/export?format=json`, { headers }));
    const reader = answer.body?.getReader();
    await reader?.read();
    await world.db.member.deleteMany({ where: { userId: member.userId } });
    world.clock.advance(15_000);
    await expect(
      (async () => {
        while (!(await reader?.read())?.done);
      })(),
    ).rejects.toThrow("no longer a member");
    expect(pieces).toBeLessThan(RUNS / 2);
  });

  it.each([
    ["status=Faild", "status=Faild"],
    ["status=Failed,Faild", "status=Failed,Faild"],
    ["status=Failed&status=Cancelled", "status=Failed, status=Cancelled"],
    ["statuss=Failed", "statuss=Failed"],
    ["constructor=1", "constructor=1"],
    ["minTokens=1e3", "minTokens=1e3"],
    ["from=yesterday", "from=yesterday"],
    ["agent=helper", "agent=helper"],
    ["format=xml", "must be csv or json"],
  ])("is rejected for an unknown filter: %s", async (query, named) => {
    const answer = await GET(new Request(`${TEST_ORIGIN}/api/runs/export?${query}`, { headers: { cookie } }));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      success: false,
      code: "invalid_request",
      message: expect.stringContaining(named),
      requestId: expect.any(String),
    });
  });
});

describe("a download of one run", () => {
  const ask = (runId: string) => {
    const request = new Request(`${TEST_ORIGIN}/api/runs/${runId}/download`, { headers: { cookie } });
    return download(request, { params: Promise.resolve({ runId }) });
  };

  it("is one JSON document of the run, its steps and its model calls", async () => {
    const runId = await insertRun(world, tenant, { steps: 2, output: "1\n2" });
    const texts = [await (await ask(runId)).text()];
    const run = { id: runId, output: "1\n2", creditsUsed: "0" };
    expect(JSON.parse(texts[0] ?? "")).toMatchObject({
      ...run,
      steps: [{ stepNumber: 1 }, { stepNumber: 2 }],
      modelCalls: [],
    });
    texts.push(await (await ask(await insertRun(world, tenant))).text());
    for (const text of texts) expect(text).toBe(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
  });

  it("is never in memory as a whole, and is rejected unread without room", async () => {
    const runId = await insertRun(world, tenant, { steps: 4 });
    const output = `"${"long ".repeat(200_000)}"`;
    await world.db.step.updateMany({ where: { runId }, data: { output } });
    // 3 MiB are for the unread files of an organization.
    onTestFinished(() => void vi.stubGlobal("stepwellServices", world));
    vi.stubGlobal("stepwellServices", {
      ...world,
      memory: new ProcessMemory({ limit: 48 * MIB, used: () => 0 }),
    });
    const written = vi.spyOn(JSON, "stringify");
    const unread = await ask(runId);
    expect(unread.status).toBe(200);
    const rejected = await ask(runId);
    expect(rejected.status).toBe(429);
    expect(await rejected.json()).toMatchObject({ code: "rate_limited" });
    await unread.body?.cancel();
    const text = await (await ask(runId)).text();
    expect(text.length).toBeGreaterThan(3 * MIB);
    const lengths = written.mock.results.map(({ value }) => String(value).length);
    expect(Math.max(...lengths)).toBeLessThan(2 * MIB);
    written.mockRestore();
    expect(JSON.parse(text).steps).toHaveLength(4);
  });
});
