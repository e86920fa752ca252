import { createServer } from "node:http";
import { fromNode, sendToNode } from "@/server/api/http/api-request";
import { targetOf } from "@/server/api/http/node-http";
import { respondToMcp } from "@/server/api/mcp/mcp";
import { respondToRest } from "@/server/api/rest";
import { respondToWebhook } from "@/server/api/webhook";
import type { Logger } from "@/server/base/log";
import { readEnvironment } from "@/server/base/settings/env";
import { isWebhookPath } from "@/server/contract/webhook";
import { closeServices, wire } from "@/wiring";
import { createTestDatabase } from "../database";
import { closeServer, listen } from "../servers/listen";

function handlerOf(path: string) {
  if (path === "/mcp") return respondToMcp;
  return isWebhookPath(path) ? respondToWebhook : respondToRest;
}

export type TestService = Awaited<ReturnType<typeof startTestService>>;

/**
 * Serves `/v1`, `/mcp` and `/webhooks` with the production engine on its own database. Without `OPENAI_*` in `env` the demo
 * model answers.
 */
export async function startTestService(env: Record<string, string> = {}, log?: Logger) {
  const database = await createTestDatabase();
  const server = createServer();
  const port = await listen(server);
  const origin = `http://127.0.0.1:${port}`;
  const settings = {
    DATABASE_URL: database.url,
    STEPWELL_SECRET: "test-secret-test-secret-test-secret",
    APP_URL: origin,
    LOG_LEVEL: "error",
    ...env,
  };
  const services = wire(readEnvironment(settings), log);
  server.on("request", (incoming, outgoing) => {
    const url = targetOf(incoming, origin);
    const answer = handlerOf(url.pathname);
    void answer(services, fromNode(incoming, url.pathname)).then((response) =>
      sendToNode(outgoing, response, []),
    );
  });
  await services.engine.execute();
  return {
    origin,
    settings,
    services,
    /** Ends all connections, as a proxy that restarts would. */
    cut: () => server.closeAllConnections(),
    async stop() {
      await closeServer(server);
      await services.engine.stop(0);
      await closeServices(services);
      await database.drop();
    },
  };
}
