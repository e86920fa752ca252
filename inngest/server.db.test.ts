import { createServer } from "node:http";
import { Inngest } from "inngest";
import { serve } from "inngest/node";
import { describe, test } from "vitest";
import { describeEngine } from "./engine-suite";

/**
 * The engine suite on a real Inngest server: `INNGEST_TEST_URL` names one that can reach this machine's loopback,
 * such as a dev server with `--no-discovery --retry-interval 1`. With `INNGEST_SIGNING_KEY` (and `INNGEST_EVENT_KEY`)
 * set, calls are signed as a self-hosted server demands.
 */
const {
  INNGEST_TEST_URL: baseUrl,
  INNGEST_SIGNING_KEY: signingKey,
  INNGEST_EVENT_KEY: eventKey,
} = process.env;

if (baseUrl === undefined) {
  describe("an Inngest server", () => {
    test.skip("not tried: INNGEST_TEST_URL names no server", () => {});
  });
} else {
  describeEngine("an Inngest server", async () => {
    const handlers = new Map<string, ReturnType<typeof serve>>();
    const http = createServer((request, response) => {
      const handler = handlers.get(new URL(request.url ?? "/", "http://localhost").pathname);
      if (handler) return void handler(request, response);
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const address = http.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const batch = Date.now().toString(36);
    let apps = 0;
    return {
      async serve(define) {
        const client = new Inngest({
          id: `suite-${batch}-${++apps}`,
          baseUrl,
          isDev: signingKey === undefined,
          eventKey: eventKey ?? "test",
          logger: { debug() {}, info() {}, warn() {}, error() {} },
          ...(signingKey === undefined ? {} : { signingKey }),
        });
        const path = `/${client.id}`;
        handlers.set(path, serve({ client, functions: define(client), servePath: path }));
        const synced = await fetch(`http://127.0.0.1:${port}${path}`, { method: "PUT" });
        if (!synced.ok) throw new Error(`The server refused the functions: ${await synced.text()}`);
        return client;
      },
      close: () => new Promise<void>((resolve) => void http.close(() => resolve())),
    };
  });
}
