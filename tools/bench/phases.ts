import { setTimeout as sleep } from "node:timers/promises";
import { generateLoad, type Load, summarize } from "./load";
import { type Start, send, startRun, type Target } from "./target";

const BURST = 400;
const SINGLE = 30;
const POLLS = 16;
const EATERS = 100;
const TRAFFIC_SECONDS = 6;
const MEASURED_EVERY = 20;

/** The measurements of a phase. `open`: runs that it started and did not await. */
export type Phase = Pick<Load, "count" | "ms" | "p50" | "p95"> & { open?: string[] };
type Asked = { target: Target; runId: string; seconds: number };

/** Waits until the runs end. Fails if one failed. */
export async function untilEnded(
  target: Target,
  start: Start,
  { ids, everyMs }: { ids: string[]; everyMs: number },
): Promise<void> {
  const statusOf = async (id: string) =>
    target.readStatus(await send(target, { path: start.statusPath(id) }));
  // Few at a time: polls of all runs would cost more than the runs.
  for (let left = ids; left.length > 0; ) {
    const asked = left.slice(0, POLLS);
    const statuses = await Promise.all(asked.map(statusOf));
    if (statuses.includes("Failed")) throw new Error(`A run of ${target.name} failed.`);
    const open = asked.filter((_, index) => statuses[index] !== "Completed");
    left = [...open, ...left.slice(POLLS)];
    if (open.length > 0) await sleep(everyMs);
  }
}

/** Polls one path on 16 connections. */
export const poll = (to: Pick<Target, "port" | "key">, path: string, seconds: number) =>
  generateLoad({ port: to.port, key: to.key, connections: 16, paths: [path], seconds });

async function pollRunning({ target, seconds }: Asked, start: Start): Promise<Load> {
  const path = start.statusPath(await startRun(target, start));
  while ((await target.readStatus(await send(target, { path }))) !== "Running");
  return poll(target, path, seconds);
}

async function starts(
  { target }: Asked,
  load: { connections: number; count: number; paths?: string[] },
): Promise<Phase> {
  const { port, key, agent } = target;
  const paths = load.paths ?? agent.paths(load.count);
  const result = await generateLoad({ port, key, body: agent.body, ...load, paths });
  return { ...result, open: result.bodies.slice(-16).map(target.readId) };
}

async function single(target: Target, start: Start): Promise<Phase> {
  const times: number[] = [];
  const began = performance.now();
  for (let n = 0; n < SINGLE; n += 1) {
    const at = performance.now();
    await untilEnded(target, start, { ids: [await startRun(target, start)], everyMs: 1 });
    times.push(performance.now() - at);
  }
  return { ...summarize(times), ms: performance.now() - began };
}

async function besideEaters(target: Target, { script, eaters }: NonNullable<Target["own"]>): Promise<Phase> {
  const other = { ...target, key: eaters.key };
  const ids = await Promise.all(Array.from({ length: EATERS }, () => startRun(other, eaters.tool)));
  const result = await single(target, script);
  await untilEnded(other, eaters.tool, { ids, everyMs: 200 });
  return result;
}

/** Starts many runs at once, and waits until all have ended. */
export async function burst(target: Target, start: Start): Promise<Phase> {
  const { port, key, readId } = target;
  const began = performance.now();
  const load = { connections: BURST, count: BURST, paths: start.paths(BURST), body: start.body };
  const sent = await generateLoad({ port, key, ...load });
  await untilEnded(target, start, { ids: sent.bodies.map(readId), everyMs: 20 });
  return { ...sent, ms: performance.now() - began };
}

/** Starts runs at a steady rate, however many are open, and measures some until they end. Waits until all have ended. */
async function traffic(target: Target, start: Start, perSecond: number): Promise<Phase> {
  const count = perSecond * TRAFFIC_SECONDS;
  const times: number[] = [];
  const perform = async (isMeasured: boolean) => {
    const at = performance.now();
    const id = await startRun(target, start);
    if (!isMeasured) return id;
    await untilEnded(target, start, { ids: [id], everyMs: 5 });
    times.push(performance.now() - at);
    return id;
  };
  const runs: Promise<string>[] = [];
  const began = performance.now();
  for (let n = 0; n < count; n += 1) {
    const early = began + (n * 1_000) / perSecond - performance.now();
    if (early > 0) await sleep(early);
    // Polls of all would cost more than the runs.
    runs.push(perform(n % MEASURED_EVERY === 0));
  }
  await untilEnded(target, start, { ids: await Promise.all(runs), everyMs: 20 });
  return { ...summarize(times), count, ms: performance.now() - began };
}

export const POLL = "poll of a finished run, 16 connections";
export const afterIdle = (seconds: string) => `${BURST} agent runs after ${seconds} s of idleness`;

const WAIT = '{"userMessage":"Wait."}';

/** The phases in their order. Those without a result for a peer measure what only our service has. */
export const PHASES: Record<string, (asked: Asked) => Promise<Phase> | undefined> = {
  [POLL]: ({ target, runId, seconds }) => poll(target, target.agent.statusPath(runId), seconds),
  "poll of an executing run": (asked) =>
    asked.target.own && pollRunning(asked, { ...asked.target.agent, body: WAIT }),
  "poll of a waiting run": (asked) => asked.target.own && pollRunning(asked, asked.target.own.waiting),
  "start, 16 connections": (asked) => starts(asked, { connections: 16, count: 1_500 }),
  "start, 1 connection": (asked) => starts(asked, { connections: 1, count: 300 }),
  "webhook, 16 connections": (asked) =>
    asked.target.own && starts(asked, { connections: 16, count: 1_000, paths: asked.target.own.hooks }),
  "one agent run": ({ target }) => single(target, target.agent),
  "one tool run": ({ target }) => single(target, target.tool),
  "one script": ({ target }) => target.own && single(target, target.own.script),
  [`one script beside ${EATERS} memory eaters`]: ({ target }) =>
    target.own && besideEaters(target, target.own),
  "100 agent runs a second": ({ target }) => traffic(target, target.agent, 100),
  "150 agent runs a second": ({ target }) => traffic(target, target.agent, 150),
  [`${BURST} agent runs at once`]: ({ target }) => burst(target, target.agent),
  [`${BURST} tool runs at once`]: ({ target }) => burst(target, target.tool),
};
