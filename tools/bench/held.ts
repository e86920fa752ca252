import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { generateLoad } from "./load";
import type { Phase } from "./phases";
import type { Target } from "./target";

/** The cost of requests that the service holds open while nothing happens. */

const WAITERS = 2_000;
const STREAMS = 200;
const STREAMS_PER_KEY = 50;
/** The service answers a waiter after 30 s. */
const SECONDS = 12;
/** Until the runs wait and the requests are open. */
const SETTLE_MS = 8_000;

type Own = NonNullable<Target["own"]>;
type Requests = { count: number; suffix: string; keyOf(own: Own, n: number): string };

const HELD: Record<string, Requests> = {
  "a second of idleness": { count: 0, suffix: "", keyOf: () => "" },
  [`a second with ${WAITERS} waiters`]: {
    count: WAITERS,
    suffix: "status?wait=30",
    keyOf: ({ keys }) => keys[0] ?? "",
  },
  [`a second with ${STREAMS} streams of events`]: {
    count: STREAMS,
    suffix: "events",
    keyOf: ({ keys }, n) => keys[Math.floor(n / STREAMS_PER_KEY)] ?? "",
  },
};

/** The operation of a phase is a second: 10 ms of CPU are 1 % of a core. */
export const HELD_PHASES = Object.keys(HELD);

/** Starts a run for each request, opens the requests, and measures the time after that. */
export async function holdRequests(
  what: string,
  target: Target,
  measure: (run: () => Promise<Phase>) => Promise<unknown>,
): Promise<void> {
  const { own, port, key } = target;
  const held = HELD[what];
  if (own === undefined || held === undefined) return;
  const { count, suffix, keyOf } = held;
  const { lasting } = own;
  const post = (paths: string[], body: string) =>
    generateLoad({ port, key, connections: 16, count: paths.length, paths, body });
  const starts = Array.from({ length: count }, () => lasting.paths(1)[0] ?? "");
  const ids = (await post(starts, lasting.body)).bodies.map(target.readId);
  const pathOf = (id: string, end: string) => lasting.statusPath(id).replace(/status$/, end);
  const requests = ids.map((id, n) => openRequest({ port, key: keyOf(own, n), path: pathOf(id, suffix) }));
  await sleep(SETTLE_MS);
  await measure(async () => {
    const began = performance.now();
    await sleep(SECONDS * 1_000);
    return { count: SECONDS, ms: performance.now() - began, p50: Number.NaN, p95: Number.NaN };
  });
  const answers = new Map<string, number>();
  for (const request of requests) {
    const [line = ""] = request.received().split("\r\n");
    answers.set(line, (answers.get(line) ?? 0) + 1);
    request.close();
  }
  // Waiters have no answer yet.
  console.log(what, count === 0 ? "" : Object.fromEntries(answers));
  await post(
    ids.map((id) => pathOf(id, "cancel")),
    "",
  );
}

function openRequest({ port, key, path }: { port: number; key: string; path: string }) {
  let received = "";
  const socket = connect({ port, host: "127.0.0.1", noDelay: true }).setEncoding("latin1");
  socket.on("data", (chunk) => {
    if (received.length < 1_000) received += chunk;
  });
  socket.on("error", (error) => {
    received = error.message;
  });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-API-Key: ${key}\r\n\r\n`);
  return { received: () => received, close: () => socket.destroy() };
}
