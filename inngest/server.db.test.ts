import { createServer } from "node:http";
import { describe, it } from "vitest";
import type { Wired } from "@/process-services";
import { targetOf } from "@/server/api/http/node-http";
import type { Stage } from "@/testing/engine/stage";
import { describeEngine } from "@/testing/engine/suite";
import { closeServer, listen } from "@/testing/servers/listen";

/**
 * The engine suite on a real Inngest server at `INNGEST_TEST_URL`, which must reach this machine. Set INNGEST_EVENT_KEY
 * and INNGEST_SIGNING_KEY for a self-hosted server; without them it is a dev server.
 */

const url = process.env.INNGEST_TEST_URL;

if (url === undefined || url === "") {
  describe("the engine on an Inngest server", () => {
    it.skip("INNGEST_TEST_URL names no server to test with", () => {});
  });
} else {
  await describeEngine(await createStage(url));
}

async function createStage(serverUrl: string): Promise<Stage> {
  let current: Wired | undefined;
  const server = createServer();
  const port = await listen(server);
  const origin = `http://127.0.0.1:${port}`;
  server.on("request", async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
    const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    const body = chunks.length === 0 ? null : Buffer.concat(chunks);
    const method = incoming.method ?? "GET";
    const response = await current?.engine.handle(
      new Request(targetOf(incoming, origin), { method, headers, body }),
    );
    outgoing.writeHead(response?.status ?? 503, Object.fromEntries(response?.headers ?? []));
    outgoing.end(await response?.text());
  });
  const { INNGEST_EVENT_KEY: eventKey, INNGEST_SIGNING_KEY: signingKey } = process.env;
  const engine =
    eventKey && signingKey
      ? { INNGEST_BASE_URL: serverUrl, INNGEST_EVENT_KEY: eventKey, INNGEST_SIGNING_KEY: signingKey }
      : { INNGEST_DEV: serverUrl };
  return {
    env: { APP_URL: origin, ...engine },
    serve: (services) => {
      current = services;
    },
    close: () => closeServer(server),
  };
}
