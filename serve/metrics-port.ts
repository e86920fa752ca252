import { createServer } from "node:http";
import { fromNode, sendToNode } from "@/server/api/http/api-request";
import { ALIVE } from "@/server/api/http/respond";
import { prepareMetrics, respondToMetrics } from "@/server/api/metrics";
import { codeOf, StartError } from "@/server/base/errors";
import type { Services } from "@/server/services";

/**
 * The server of STEPWELL_METRICS_PORT. Each process has its own, so that each scrape is of one process. It answers
 * `/api/health` too: a probe there succeeds while the service's port closes further connections.
 */

const PATHS = ["/metrics", "/api/metrics"];
/** A scraper sends nothing but its head. */
const MAX_HEAD_BYTES = 8_192;
const TIMEOUT_MS = 10_000;
const HEADERS = ["X-Content-Type-Options", "nosniff"];

/**
 * Prepares metrics and listens, as the settings say. Called before the engine starts. Returns a function that stops it.
 * Throws StartError.
 */
export async function serveMetrics(services: Services): Promise<() => Promise<void>> {
  const { metrics, host } = services.env;
  await prepareMetrics(services);
  const port = metrics?.port;
  if (port === undefined) return async () => {};
  const server = createServer(
    { maxHeaderSize: MAX_HEAD_BYTES, requestTimeout: TIMEOUT_MS },
    async (incoming, outgoing) => {
      const [path = ""] = (incoming.url ?? "").split("?", 1);
      if (path === "/api/health") return sendToNode(outgoing, ALIVE, HEADERS);
      const isOwnPort = PATHS.includes(path);
      const response = await respondToMetrics(services, fromNode(incoming, path), { isOwnPort });
      sendToNode(outgoing, response, HEADERS);
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(new StartError(`STEPWELL_METRICS_PORT: cannot listen on port ${port} (${codeOf(error)}).`)),
    );
    // Workers of a cluster would share the port.
    server.listen({ port, host, exclusive: true }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
  server.on("error", (error) => services.log.error("Could not accept a connection for metrics", { error }));
  return async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
}
