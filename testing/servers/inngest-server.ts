import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { type Carry, Executor } from "./inngest/executor";
import type { FunctionRun } from "./inngest/function-run";
import {
  checkpoint,
  type InngestEvent,
  type InngestFunction,
  isSigningToken,
  matches,
  registration,
  sentEvents,
} from "./inngest/protocol";
import { closeServer, listen } from "./listen";

export const SIGNING_KEY = "0123456789abcdef";
export const EVENT_KEY = "an-event-key";

type Options = {
  isDev?: boolean;
  /** For failed calls without a Retry-After header. */
  retryMs?: number;
};
type Reply = { status: number; body: unknown };

/**
 * A stand-in for an Inngest server of version 1.43, for the addresses that SDK 4 uses. It keeps everything in
 * memory, and calls without a queue's delays.
 */
export class InngestServer {
  readonly url: string;
  readonly functions = new Map<string, InngestFunction>();
  /** Without repeated ids. */
  readonly events: InngestEvent[] = [];
  unauthorized = 0;
  acceptsCheckpoints = true;
  readonly #server: Server;
  readonly #isDev: boolean;
  readonly #executor: Executor;

  private constructor(server: Server, url: string, { isDev = false, retryMs = 20 }: Options) {
    this.url = url;
    this.#server = server;
    this.#isDev = isDev;
    this.#executor = new Executor({
      signingKey: isDev ? undefined : SIGNING_KEY,
      retryMs,
      onEvent: (event) => this.#receive(event),
    });
    server.on("request", this.#listener);
  }

  static async open(options: Options = {}): Promise<InngestServer> {
    const server = createServer();
    return new InngestServer(server, `http://127.0.0.1:${await listen(server)}`, options);
  }

  get env(): Record<string, string> {
    if (this.#isDev) return { INNGEST_DEV: this.url };
    return { INNGEST_BASE_URL: this.url, INNGEST_EVENT_KEY: EVENT_KEY, INNGEST_SIGNING_KEY: SIGNING_KEY };
  }

  get runs(): readonly FunctionRun[] {
    return this.#executor.runs;
  }

  get awaited(): string[] {
    return this.#executor.awaited;
  }

  set carry(carry: Carry) {
    this.#executor.carry = carry;
  }

  cancel(run: FunctionRun): void {
    this.#executor.cancel(run);
  }

  async close(): Promise<void> {
    this.#executor.close();
    await closeServer(this.#server);
  }

  #receive(event: InngestEvent): void {
    if (event.id !== "" && this.events.some(({ id }) => id === event.id)) return;
    this.events.push(event);
    this.#executor.match(event);
    for (const fn of this.functions.values()) {
      const isTriggered = fn.triggers.some(
        (trigger) => trigger.event === event.name && matches(trigger.expression, { event }),
      );
      if (isTriggered) this.#executor.start(fn, event);
    }
  }

  readonly #listener: RequestListener = async (request, response) => {
    response.setHeader("X-Inngest-Server-Kind", this.#isDev ? "dev" : "cloud");
    response.setHeader("Content-Type", "application/json");
    try {
      const { status, body } = await this.#reply(request);
      response.writeHead(status).end(JSON.stringify(body));
    } catch (error) {
      response.writeHead(400).end('{"status":400,"error":"Invalid request body"}');
      // Vitest reports the rejection: what this stand-in does not know fails the tests.
      throw error;
    }
  };

  async #reply(request: IncomingMessage): Promise<Reply> {
    const { pathname } = new URL(request.url ?? "/", this.url);
    const body = await readJson(request);
    if (pathname === "/health") return { status: 200, body: { status: 200, message: "OK" } };
    if (pathname.startsWith("/e/")) return this.#replyToEvents(pathname.slice("/e/".length), body);
    if (!this.#isDev && !isSigningToken(request.headers.authorization, SIGNING_KEY)) {
      this.unauthorized += 1;
      return { status: 401, body: { status: 401, error: "Authentication failed" } };
    }
    if (pathname === "/v1/events") return { status: 200, body: { data: [], metadata: {} } };
    if (pathname === "/fn/register") {
      for (const fn of registration.parse(body).functions) this.functions.set(fn.id, fn);
      return { status: 200, body: { status: 200, modified: true } };
    }
    const [, runId] = /^\/v1\/checkpoint\/([\w-]+)\/async$/.exec(pathname) ?? [];
    if (runId === undefined) return { status: 404, body: { status: 404, error: "Not found" } };
    if (!this.acceptsCheckpoints) return { status: 503, body: { status: 503, error: "Unavailable" } };
    const age = Date.now() - started.parse(body).request_started_at;
    const status = this.#executor.saveCheckpoint(runId, checkpoint.parse(body), age);
    return { status, body: { status } };
  }

  #replyToEvents(key: string, body: unknown): Reply {
    if (!this.#isDev && key !== EVENT_KEY)
      return { status: 401, body: { status: 401, message: "", error: "Event key not found" } };
    const events = sentEvents.parse(body);
    // The service gets its answer before the server calls it.
    setImmediate(() => events.forEach((event) => void this.#receive(event)));
    return { status: 200, body: { status: 200, ids: events.map(({ id }) => id) } };
  }
}

const started = z.object({ request_started_at: z.number() });

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString();
  return text === "" ? null : JSON.parse(text);
}

export async function serveInTest(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => closeServer(server));
  return `http://127.0.0.1:${await listen(server)}`;
}

export async function openInTest(options: Options = {}): Promise<InngestServer> {
  const server = await InngestServer.open(options);
  onTestFinished(() => server.close());
  return server;
}
