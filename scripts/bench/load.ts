import { connect } from "node:net";

/** Requests to send: `count` of them, or as many as fit into `seconds`. `paths` are taken in turn. */
export type LoadJob = {
  port: number;
  key: string;
  connections: number;
  paths: string[];
  /** Without a body they are GET requests. */
  body?: string;
  seconds?: number;
  count?: number;
};

/** The result of a load. Times are in ms. */
export type Load = {
  count: number;
  ms: number;
  p50: number;
  p95: number;
  /** The bodies of the responses, if the job has a count. */
  bodies: string[];
};

const END = Buffer.from("\r\n\r\n");

/**
 * A load generator on raw sockets: one request at a time per connection, cheap enough not to be measured itself. Fails if
 * a response has another status than 200.
 */
export async function generateLoad(job: LoadJob): Promise<Load> {
  const requests = job.paths.map((path) => requestOf(job, path));
  const times: number[] = [];
  const bodies: string[] = [];
  let sent = 0;
  const began = performance.now();
  const until = began + (job.seconds ?? 3600) * 1_000;
  const isOver = () => (job.count !== undefined && sent >= job.count) || performance.now() > until;
  const work = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port: job.port, host: "127.0.0.1", noDelay: true });
      let pending: Buffer = Buffer.alloc(0);
      let at = 0;
      const next = () => {
        if (isOver()) {
          socket.destroy();
          return resolve();
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
        if (!head.startsWith("HTTP/1.1 200")) {
          return reject(new Error(`A request failed: ${head.split("\r\n")[0]} ${body}`));
        }
        if (job.count !== undefined) bodies.push(body);
        pending = Buffer.alloc(0);
        next();
      });
    });
  await Promise.all(Array.from({ length: job.connections }, work));
  return { ...summarize(times), ms: performance.now() - began, bodies };
}

function requestOf({ port, key, body }: LoadJob, path: string): Buffer {
  const lines = [
    `${body === undefined ? "GET" : "POST"} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `X-API-Key: ${key}`,
  ];
  if (body !== undefined)
    lines.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
}

/** The number and the percentiles of durations. */
export function summarize(times: number[]) {
  const sorted = times.toSorted((a, b) => a - b);
  const part = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { count: times.length, p50: part(0.5), p95: part(0.95), p99: part(0.99) };
}
