import { connect } from "node:net";

/** `count` requests, or as many as fit into `seconds`. `paths` are taken in turn. */
type LoadJob = {
  port: number;
  key: string;
  connections: number;
  paths: string[];
  body?: string;
  seconds?: number;
  count?: number;
};

export type Load = Awaited<ReturnType<typeof generateLoad>>;

/**
 * Generates load on raw sockets, one request at a time per connection. Returns times in ms and, with a count,
 * bodies. Fails if a request fails.
 */
export async function generateLoad(job: LoadJob) {
  const requests = job.paths.map((path) => requestOf(job, path));
  const times: number[] = [];
  const bodies: string[] = [];
  let sent = 0;
  const began = performance.now();
  const until = began + (job.seconds ?? 3600) * 1_000;
  const isOver = () => (job.count !== undefined && sent >= job.count) || performance.now() > until;
  const work = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port: job.port, host: "127.0.0.1", noDelay: true }).setEncoding("latin1");
      let pending = "";
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
        pending += chunk;
        const start = pending.indexOf("\r\n\r\n") + 4;
        const length = Number(/content-length: (\d+)/i.exec(pending)?.[1] ?? 0);
        if (start < 4 || pending.length < start + length) return;
        times.push(performance.now() - at);
        if (!pending.startsWith("HTTP/1.1 2")) return reject(new Error(`A request failed: ${pending}`));
        if (job.count !== undefined) bodies.push(pending.slice(start));
        pending = "";
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

export function summarize(times: number[]) {
  const sorted = times.toSorted((a, b) => a - b);
  const part = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { count: times.length, p50: part(0.5), p95: part(0.95), p99: part(0.99) };
}
