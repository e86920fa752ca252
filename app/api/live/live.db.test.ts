import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GET as getRun } from "@/app/api/live/runs/[runId]/route";
import { GET as getRuns } from "@/app/api/live/runs/route";
import type { MemberActor } from "@/server/base/actor";
import { handleAuthRequest } from "@/server/catalog/auth/auth-requests";
import { acquireStreamSlot, STREAM_LIMITS } from "@/server/guard/limits/stream-slots";
import { HEARTBEAT_EVENT, HEARTBEAT_MS } from "@/server/runs/live/event-stream";
import { notifyRunChanged } from "@/server/runs/run-changes";
import { createMember, insertRun, TEST_PASSWORD } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";

const opened: AbortController[] = [];

const world = await openWorld();
vi.stubGlobal("stepwellServices", world);
const tenant = await createTenant(world);
// Only heartbeats use an interval.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => {
  for (const each of opened.splice(0)) each.abort();
  vi.useRealTimers();
});

const ORIGIN = "http://stepwell.test";
let address = 0;

async function auth(path: string, headers: Record<string, string>, body: object): Promise<Response> {
  address += 1;
  const request = new Request(`${ORIGIN}/api/auth${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: ORIGIN, host: "stepwell.test", ...headers },
    body: JSON.stringify(body),
  });
  return handleAuthRequest(world, request, `192.0.2.${address}`);
}

type Person = MemberActor & { cookie: string };

async function signIn(): Promise<Person> {
  const { email, ...actor } = await createMember(world, tenant, "member");
  const response = await auth("/sign-in/email", {}, { email, password: TEST_PASSWORD });
  const cookies = response.headers.getSetCookie().map((each) => each.split(";")[0]);
  return { ...actor, cookie: cookies.join("; ") };
}

async function open({ cookie }: { cookie: string }, run?: { id: string; after: number }) {
  const release = new AbortController();
  opened.push(release);
  const headers: Record<string, string> = { cookie };
  if (run) headers["last-event-id"] = String(run.after);
  const request = new Request(`${ORIGIN}/api/live/runs`, { headers, signal: release.signal });
  const response = run
    ? await getRun(request, { params: Promise.resolve({ runId: run.id }) })
    : await getRuns(request);
  return { response, release };
}

function follow(response: Response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  return {
    async until(text: string): Promise<void> {
      for (let read = ""; !read.includes(text); ) {
        const chunk = await reader?.read();
        if (!chunk || chunk.done) throw new Error(`the stream ended before ${JSON.stringify(text)}`);
        read += chunk.value;
      }
    },
    async end(): Promise<void> {
      while ((await reader?.read())?.done === false);
    },
  };
}

async function readAll(response: Response): Promise<string> {
  return new Response(response.body).text();
}

describe("limits of live streams", () => {
  it("apply to one person, and free up when a stream closes", async () => {
    const person = await signIn();
    const streams = await Promise.all(Array.from({ length: STREAM_LIMITS.person }, () => open(person)));
    expect(streams.map(({ response }) => response.status)).toEqual(streams.map(() => 200));

    const { response: rejected } = await open(person);
    expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([429, "5"]);
    expect(await rejected.json()).toMatchObject({ success: false, code: "rate_limited" });
    expect((await open(await signIn())).response.status).toBe(200);

    streams[0]?.release.abort();
    expect((await open(person)).response.status).toBe(200);
    expect((await open(person)).response.status).toBe(429);
    await streams[1]?.response.body?.cancel();
    expect((await open(person)).response.status).toBe(200);
  });

  it("free up when a reader leaves whose request could have been collected", async () => {
    const person = await signIn();
    const streams = [];
    for (let n = 0; n < STREAM_LIMITS.person; n++) streams.push(await open(person));
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();

    streams[0]?.release.abort();
    expect((await open(person)).response.status).toBe(200);
  });

  it("reject further streams of an organization", async () => {
    const person = await signIn();
    const others = Array.from({ length: STREAM_LIMITS.organization }, (_, n) =>
      acquireStreamSlot(world, { orgId: tenant.orgId, userId: `somebody ${n}` }),
    );
    const { response } = await open(person);
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({
      message: expect.stringContaining("Your organization has"),
    });
    for (const slot of others) if ("release" in slot) slot.release();
    expect((await open(person)).response.status).toBe(200);
  });

  it("free up when a stream ends by itself", async () => {
    const person = await signIn();
    const id = await insertRun(world, tenant, { status: "Completed", steps: 1 });
    for (let n = 0; n <= STREAM_LIMITS.person; n++) {
      expect(await readAll((await open(person, { id, after: 0 })).response)).toContain(
        '"status":"Completed"',
      );
    }
  });
});

describe("a reader that does not read", () => {
  it("has at most one event waiting, and then gets everything it missed", async () => {
    const person = await signIn();
    const id = await insertRun(world, tenant, { status: "Running", steps: 3 });
    const { response } = await open(person, { id, after: 3 });
    const other = await open(person, { id, after: 3 });
    const awake = follow(other.response);
    // A second, fast reader shows when each change could have been sent.
    for (let sequence = 4; sequence <= 8; sequence++) {
      await world.pool.query("UPDATE runs SET sequence = $2 WHERE id = $1", [id, sequence]);
      await world.pool.query("UPDATE steps SET sequence = $2 WHERE run_id = $1 AND step_number = $3", [
        id,
        sequence,
        1 + (sequence % 3),
      ]);
      notifyRunChanged(world, { orgId: tenant.orgId, id }, sequence);
      await awake.until(`id: ${sequence}
`);
      vi.advanceTimersByTime(HEARTBEAT_MS);
    }
    await world.db.run.update({
      where: { id },
      data: { status: "Completed", output: "{}", finishedAt: world.clock.now(), sequence: 9 },
    });
    const text = await readAll(response);
    const ids = [...text.matchAll(/^id: (\d+)\nevent: change$/gm)].map((match) => Number(match[1]));
    expect(ids).toEqual([9]);
    for (const step of [1, 2, 3]) expect(text).toContain(`"number":${step},`);
    expect(text).not.toContain(HEARTBEAT_EVENT);
  });
});

it("a stream sends heartbeats as events, which a page can see", async () => {
  const { response } = await open(await signIn());
  const stream = follow(response);
  let isHeard = false;
  const hear = stream.until(`event: ${HEARTBEAT_EVENT}\ndata: {}\n\n`).then(() => {
    isHeard = true;
  });
  // Only a reader that asks gets one.
  await expect.poll(() => vi.advanceTimersByTime(HEARTBEAT_MS) && isHeard).toBe(true);
  await hear;
});

describe("a stream ends", () => {
  const endings: [string, (person: Person) => Promise<unknown>][] = [
    ["sign-out", ({ cookie }) => auth("/sign-out", { cookie }, {})],
    ["the end of the membership", ({ userId }) => world.db.member.deleteMany({ where: { userId } })],
    [
      "another role",
      ({ userId }) => world.db.member.updateMany({ where: { userId }, data: { role: "viewer" } }),
    ],
  ];
  it.each(endings)("at the next heartbeat after %s", async (_, end) => {
    const person = await signIn();
    const { response } = await open(person);
    const stream = follow(response);
    await stream.until("event: runs");
    await end(person);
    vi.advanceTimersByTime(HEARTBEAT_MS);
    await stream.end();
  });
});
