import { createServer, type ServerResponse } from "node:http";

/**
 * A slow server and model provider for e2e/support/organization.yaml. `GET /held/ID` is answered after `POST
 * /release/ID`, anything else after 20 ms. After item 40 it is slower, so that a run of 1000 items takes longer
 * than the tests that watch it.
 */

/** The key that it takes as a model provider. */
export const MODEL_KEY = "sk-e2e-model-provider";
const COMPLETION = {
  choices: [{ message: { role: "assistant", content: "Ready." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 12, completion_tokens: 2 },
};

const LIST = {
  data: [{ id: "near/large" }, { id: "near/small" }, { id: "near/tiny", context_length: 8_192 }],
};
const MODEL_ANSWERS: Record<string, object> = { "/v1/chat/completions": COMPLETION, "/v1/models": LIST };

const delayOf = (url: string) => (Number(url.slice(1)) > 40 ? 150 : 20);
const PREFIX = { held: "/held/", release: "/release/" };

/** Listens on the port of playwright.config.ts; returns a function that stops it. */
export async function startSlowServer(): Promise<() => void> {
  const released = new Set<string>();
  const held = new Map<string, ServerResponse[]>();
  const server = createServer(({ url = "", headers }, response) => {
    if (url.startsWith(PREFIX.release)) {
      const id = url.slice(PREFIX.release.length);
      released.add(id);
      for (const waiting of held.get(id) ?? []) waiting.end("{}");
      held.delete(id);
      response.end();
    } else if (url.startsWith(PREFIX.held) && !released.has(url.slice(PREFIX.held.length))) {
      const id = url.slice(PREFIX.held.length);
      held.set(id, [...(held.get(id) ?? []), response]);
    } else if (url in MODEL_ANSWERS) {
      const isRight = headers.authorization === `Bearer ${MODEL_KEY}`;
      response.writeHead(isRight ? 200 : 401, { "content-type": "application/json" });
      response.end(JSON.stringify(isRight ? MODEL_ANSWERS[url] : { error: { message: "Wrong key" } }));
    } else {
      setTimeout(() => response.end("{}"), delayOf(url));
    }
  });
  await new Promise<void>((resolve) => server.listen(slowServerPort(), "127.0.0.1", resolve));
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

export function slowServerPort(): number {
  return Number(process.env.STEPWELL_E2E_SLOW_SERVER_PORT);
}

/** Answers the request of a run that waits at `/held/ID`. */
export async function release(runId: string): Promise<void> {
  await fetch(`http://127.0.0.1:${slowServerPort()}${PREFIX.release}${runId}`, { method: "POST" });
}
