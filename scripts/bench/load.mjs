import { connect } from "node:net";

/**
 * A load generator on raw sockets: one request at a time per connection, cheap enough not to be measured itself. Runs in its
 * own process: reads one JSON job from standard input and writes its result to standard output.
 *
 * @typedef {{ port: number, connections: number, method: string, paths: string[], headers: Record<string, string>,
 *   body?: string, seconds?: number, count?: number }} Job
 */

/** @param {Job} job @param {string} path */
function requestOf({ port, method, headers, body }, path) {
  const lines = [`${method} ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== undefined)
    lines.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
}

const END = Buffer.from("\r\n\r\n");

/**
 * Sends requests until the time or the count is over.
 * @param {Job} job
 */
export async function load(job) {
  const requests = job.paths.map((path) => requestOf(job, path));
  const until = performance.now() + (job.seconds ?? 3600) * 1_000;
  const times = /** @type {number[]} */ ([]);
  const bodies = /** @type {string[]} */ ([]);
  let sent = 0;
  let failed = 0;
  let firstFailure = "";
  const beganAt = Date.now();
  const began = performance.now();
  const isOver = () => (job.count !== undefined && sent >= job.count) || performance.now() > until;
  const work = () =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: job.port, host: "127.0.0.1", noDelay: true });
      let pending = /** @type {Buffer} */ (Buffer.alloc(0));
      let at = 0;
      const next = () => {
        if (isOver()) {
          socket.destroy();
          return resolve(undefined);
        }
        at = performance.now();
        socket.write(requests[sent++ % requests.length] ?? "");
      };
      socket.on("connect", next);
      socket.on("error", reject);
      socket.on("data", (chunk) => {
        pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
        const end = pending.indexOf(END);
        if (end < 0) return;
        const head = pending.toString("latin1", 0, end);
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        if (pending.length < end + 4 + length) return;
        times.push(performance.now() - at);
        const body = pending.toString("utf8", end + 4, end + 4 + length);
        if (head.startsWith("HTTP/1.1 200")) {
          if (job.count !== undefined) bodies.push(body);
        } else {
          failed += 1;
          firstFailure ||= `${head.split("\r\n")[0]} ${body}`;
        }
        pending = Buffer.alloc(0);
        next();
      });
    });
  await Promise.all(Array.from({ length: job.connections }, work));
  const ms = performance.now() - began;
  times.sort((a, b) => a - b);
  const part = (/** @type {number} */ share) => times[Math.floor(times.length * share)] ?? 0;
  return {
    count: times.length,
    beganAt,
    ms,
    p50: part(0.5),
    p95: part(0.95),
    p99: part(0.99),
    failed,
    firstFailure,
    bodies,
  };
}

let text = "";
for await (const chunk of process.stdin) text += chunk;
process.stdout.write(JSON.stringify(await load(JSON.parse(text))));
