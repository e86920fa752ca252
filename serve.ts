import cluster from "node:cluster";
import { realpathSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type { Duplex } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Demo } from "@/prisma/seed";
import { captureConsole, captureErrors } from "@/server/base/log";
import { readEnvironment } from "@/server/base/settings/env";
import { sleep } from "@/server/base/sleep";
import { waitUntilReady } from "@/server/operate/health";
import { closeServices, wireProcess } from "@/wiring";
import { isClusterPrimary, type Serving, servePrimary } from "./serve/cluster";
import { connectionLimits, createConnectionBound, readOpenFiles } from "./serve/connections";
import { startIsolation } from "./serve/isolation";
import { serveMetrics } from "./serve/metrics-port";
import { createPages } from "./serve/pages";
import { offerFirstOrganization, prepareService, registerProcess } from "./serve/prepare";
import { createHandler, rejectBadHttp } from "./serve/requests";
import { GRACE_MS, limitStop, STOP_MS, stopOnSignals } from "./serve/stop";

export { stopOnSignals };

/**
 * The process: one HTTP server and the engine. `/v1` and `/webhooks` go to their handlers, health is answered here,
 * everything else goes to Next.
 */

type ServeOptions = {
  root: string;
  dev?: boolean;
  print?: (line: string) => void;
};

/**
 * Migrates the database, checks the secret, starts the engine and listens. The environment is the configuration. Throws
 * StartError or the error of listening.
 */
export async function serve({ root, dev = false, print = () => {} }: ServeOptions): Promise<Serving> {
  const services = wireProcess();
  if (!dev) {
    captureConsole(services.log);
    captureErrors(services.log);
  }
  const demo = await prepareService(services, root, print);
  // Of several processes, the first one announces the service.
  const setUpLink = cluster.isWorker ? null : await offerFirstOrganization(services);
  if (isClusterPrimary(services.env) && !dev)
    return servePrimary(services, { demo, setUpLink, script: fileURLToPath(import.meta.url) });

  const state = { stopping: false };
  const ending = new AbortController();
  const { role, port: wanted, host, appUrl } = services.env;
  const pages =
    role === "worker"
      ? null
      : createPages({
          root,
          built: dev ? null : join(dirname(fileURLToPath(import.meta.url)), "next"),
          host,
          port: wanted,
        });
  const server = createServer({
    // We reject it ourselves, with the contract's error body.
    requireHostHeader: false,
  });
  server.on("request", createHandler(services, { showPage: pages?.show ?? null, dev, state }));
  rejectBadHttp(server);
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
  const stopMetrics = await serveMetrics(services);
  if (role === "web") registerProcess(services);
  else await services.engine.execute("ordinary");
  const isolation = role === "web" ? null : startIsolation(services, beside("isolated.mjs"));
  server.on("connection", createConnectionBound(services, connectionLimits(readOpenFiles(), services.env)));
  const port = await listen(server, wanted, host);
  server.on("error", (error) => services.log.error("Could not accept a connection", { error }));

  return {
    port,
    appUrl,
    demo,
    setUpLink,
    untilReady: (listener) => waitUntilReady(services, listener, ending.signal),
    async stop() {
      const stopped = limitStop(services.log, services.env.drainMs + STOP_MS);
      // Load balancers see that it is not ready, and keep-alive connections end with their next response.
      state.stopping = true;
      ending.abort();
      await sleep(services.env.drainMs);
      services.endWaiters.close();
      // Connections for page reloads would keep the server open: it does not count upgraded sockets as its own.
      for (const socket of upgraded) socket.destroy();
      await closeServer(server);
      await Promise.all([services.engine.stop(GRACE_MS), isolation?.stop()]);
      await pages?.close();
      await stopMetrics();
      await closeServices(services);
      stopped();
    },
  };
}

/**
 * Checks the settings before the long parts of a start. With the embedded database, two settings come later. Returns
 * warnings; throws StartError.
 */
export function checkSettings(): string[] {
  const { DATABASE_URL: url, STEPWELL_SECRET: secret, ...env } = process.env;
  const later = { DATABASE_URL: url || "postgres://embedded", STEPWELL_SECRET: secret || "-".repeat(32) };
  return readEnvironment({ ...env, ...later }).unknownSettings;
}

function beside(program: string): string {
  return fileURLToPath(new URL(program, import.meta.url));
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

/** Live streams do not end by themselves: closes those still open after the grace period. */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await closed;
  clearTimeout(timer);
}

/** Prints the URL, how to sign in, and a command to try. */
export function announce({ appUrl, demo, setUpLink }: Serving, print: (line: string) => void): void {
  print(`\nStepwell is ready: ${appUrl}`);
  if (setUpLink !== null) {
    print("  No organization exists yet. Create the first one within a day; the link works once:");
    print(`  ${setUpLink}`);
  }
  if (demo) {
    print(`  Sign in as  ${demo.login}${describePassword(demo)}`);
    if (demo.apiKey !== undefined) print(`  API key     ${demo.apiKey}  (shown this once)`);
    const line = tryingLine(appUrl, demo);
    if (line !== null) print(`  Try it      ${line}`);
  }
  print("  Stop with Ctrl-C\n");
}

function describePassword({ password, passwordFile }: Demo): string {
  if (password !== undefined) return `  password  ${password}  (shown this once)`;
  return passwordFile === null ? "" : `  (password in ${passwordFile})`;
}

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

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  // `serve` sends console output to the log, which hides keys.
  const print = console.log;
  const serving = await serve({
    root: process.cwd(),
    dev: process.argv.includes("--dev"),
    print,
  });
  stopOnSignals(serving);
  // With several processes, the primary announces the service.
  if (!cluster.isWorker && (await serving.untilReady(print))) announce(serving, print);
}
