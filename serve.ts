import cluster from "node:cluster";
import { realpathSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Demo } from "@/prisma/seed";
import { captureConsole, captureFaults } from "@/server/log";
import { waitUntilReady } from "@/server/operate/health";
import { closeServices, getServices } from "@/wiring";
import { isClusterPrimary, type Serving, servePrimary } from "./serve-cluster";
import { prepare } from "./serve-prepare";
import { createHandler, refuseBadHttp } from "./serve-requests";

/**
 * The process: one HTTP server in front, the engine behind. `/v1` and `/webhooks` go straight to their doors, health
 * is answered here, everything else is Next's.
 */

/** How long requests and runs under way may take to come to a good place when the process is to end. */
const GRACE_MS = 5_000;

export type ServeOptions = {
  /** The project's folder: next.config.ts and prisma/migrations are there. */
  root: string;
  /** Pages are compiled as they are asked for and reload in place. */
  dev?: boolean;
  /** Told what is being done, for people who wait. */
  print?: (line: string) => void;
};

/**
 * Migrates the database, checks the secret, starts the engine and listens. Configuration comes from the environment.
 * Throws EnvironmentError, MigrationError, WrongSecretError, or what listening throws.
 */
export async function serve({ root, dev = false, print = () => {} }: ServeOptions): Promise<Serving> {
  const services = getServices();
  if (!dev) {
    captureConsole(services.log);
    captureFaults(services.log);
  }
  const demo = await prepare(services, root, print);
  if (isClusterPrimary(services.env) && !dev)
    return servePrimary(services, { demo, script: fileURLToPath(import.meta.url) });

  const state = { stopping: false };
  const ending = new AbortController();
  const { role, port: wanted, host, appUrl } = services.env;
  const pages = role === "worker" ? null : createPages({ root, dev, host, port: wanted });
  const server = createServer({
    // Refused by us, with the contract's error body.
    requireHostHeader: false,
  });
  server.on("request", createHandler(services, { showPage: pages?.show ?? null, dev, state }));
  refuseBadHttp(server);
  const upgraded = new Set<Duplex>();
  if (dev && pages) {
    const upgrade = await pages.upgrade();
    server.on("upgrade", (incoming, socket, head) => {
      upgraded.add(socket);
      socket.once("close", () => upgraded.delete(socket));
      void upgrade(incoming, socket, head);
    });
  }
  services.notifications.open();
  if (role !== "web") services.engine.execute();
  const port = await listen(server, wanted, host);

  return {
    port,
    appUrl,
    demo,
    untilReady: (listener) => waitUntilReady(services, listener, ending.signal),
    async stop() {
      state.stopping = true;
      ending.abort();
      // Browsers that wait for changes of pages would be waited for in turn: the server does not count them as its own.
      for (const socket of upgraded) socket.destroy();
      await closeServer(server);
      await services.engine.stop(GRACE_MS);
      await pages?.close();
      await closeServices(services);
    },
  };
}

/**
 * The pages, loaded by the first request for one: a process that only answers the API starts sooner, is smaller and keeps the
 * timers and dates of Node, which Next replaces by slower ones.
 */
function createPages({ root, dev, host, port }: { root: string; dev: boolean; host: string; port: number }) {
  const load = async () => {
    const { default: next } = await import("next");
    const app = next({
      dir: root,
      dev,
      hostname: host,
      port,
      quiet: true,
      // Next would listen for upgrades on whichever server brings its first request, and hang up on every client that
      // offers HTTP/2 by `Upgrade: h2c`. In production it gets a server that nobody reaches.
      ...(dev ? {} : { httpServer: createServer() }),
    });
    await app.prepare();
    return { app, show: app.getRequestHandler() };
  };
  let loading: ReturnType<typeof load> | undefined;
  const loaded = () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    show: async (incoming: IncomingMessage, outgoing: ServerResponse) =>
      (await loaded()).show(incoming, outgoing),
    upgrade: async () => (await loaded()).app.getUpgradeHandler(),
    close: async () => (await loading)?.app.close(),
  };
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      const address: string | AddressInfo | null = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

/** Live streams have no end of their own: what is still open after the grace is cut. */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await closed;
  clearTimeout(timer);
}

/** Tells people where it is, how they get in, and a line that works as pasted. */
export function announce({ appUrl, demo }: Serving, print: (line: string) => void): void {
  print(`\nStepwell is ready: ${appUrl}`);
  if (demo) {
    print(`  Sign in as  ${demo.login}${describePassword(demo)}`);
    if (demo.apiKey !== undefined) print(`  API key     ${demo.apiKey}  (shown this once)`);
    const line = tryingLine(appUrl, demo);
    if (line !== null) print(`  Try it      ${line}`);
  }
  print("  Stop with Ctrl-C\n");
}

/** The password itself is printed once. */
function describePassword({ password, passwordFile }: Demo): string {
  if (password !== undefined) return `  password  ${password}  (shown this once)`;
  return passwordFile === null ? "" : `  (password in ${passwordFile})`;
}

/** By the API key while it is known, later by a trigger, whose address is its own key. */
function tryingLine(appUrl: string, demo: Demo): string | null {
  const message = "What do 12 apples at 0.80 cost?";
  const curl = (url: string, body: object, header = "") =>
    `curl -s ${url} ${header}-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  if (demo.apiKey !== undefined) {
    const url = `${appUrl}/v1/agents/run/${demo.agentId}`;
    return curl(url, { userMessage: message }, `-H 'X-API-Key: ${demo.apiKey}' `);
  }
  return demo.triggerUrl === null ? null : curl(demo.triggerUrl, { question: message });
}

/** Run by itself, as `npm run dev` does; what it needs is in the environment then. */
if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const serving = await serve({
    root: process.cwd(),
    dev: process.argv.includes("--dev"),
    print: console.log,
  });
  let stopping = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      void serving.stop().then(() => process.exit(0));
    });
  }
  // One of several processes says nothing: their primary does.
  if (!cluster.isWorker && (await serving.untilReady(console.log))) announce(serving, console.log);
}
