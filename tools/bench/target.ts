export type Start = {
  paths: (count: number) => string[];
  body: string;
  statusPath: (runId: string) => string;
};

type OwnParts = {
  script: Start;
  waiting: Start;
  lasting: Start;
  keys: string[];
  hooks: string[];
  eaters: { key: string; tool: Start };
};

/** A running service to measure: ours, or a peer. */
export type Target = {
  name: string;
  port: number;
  key: string;
  /** The processes whose CPU and memory count, without PostgreSQL. */
  pids: number[];
  postmaster?: number | undefined;
  readyMs: number;
  agent: Start;
  tool: Start;
  own?: OwnParts;
  readId: (body: string) => string;
  readStatus: (response: Response) => Promise<string>;
  countStatements?: (() => Promise<number>) | undefined;
  stop: () => Promise<void>;
};

/** Sends a start, or a poll if there is no body. */
export function send(
  { port, key }: Pick<Target, "port" | "key">,
  { path, body }: { path: string; body?: string },
): Promise<Response> {
  const headers = { "X-API-Key": key, "Content-Type": "application/json" };
  const init = body === undefined ? { headers } : { method: "POST", headers, body };
  return fetch(`http://127.0.0.1:${port}${path}`, init);
}

/** Returns the id of the run. Throws if the start is rejected. */
export async function startRun(target: Target, { paths, body }: Start): Promise<string> {
  const [path = ""] = paths(1);
  const response = await send(target, { path, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${target.name} answered ${response.status} to a start: ${text}`);
  return target.readId(text);
}
