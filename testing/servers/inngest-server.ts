import { createHash } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import { onTestFinished } from "vitest";
import { closeServer, listen } from "./listen";

/** HTTP servers that answer probes like Inngest 1.43. */

export const SIGNING_KEY = "0123456789abcdef";
export const EVENT_KEY = "an-event-key";

/** Serves until the test ends. */
export async function serveInTest(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => closeServer(server));
  return `http://127.0.0.1:${await listen(server)}`;
}

/** `inngest start` with the two keys. Collects the events it gets. */
export function selfHosted(events: string[] = []): RequestListener {
  const hash = createHash("sha256").update(Buffer.from(SIGNING_KEY, "hex")).digest("hex");
  return async (request, response) => {
    response.setHeader("X-Inngest-Server-Kind", "cloud");
    const answer = (status: number, type: string, body: string) =>
      response.writeHead(status, { "Content-Type": type }).end(body);
    if (request.url === "/health") return answer(200, "application/json", '{"status":200,"message":"OK"}\n');
    if (request.url?.startsWith("/e/")) {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      events.push(body);
      return request.url === `/e/${EVENT_KEY}`
        ? answer(200, "text/plain; charset=utf-8", '{"ids":[""],"status":200}\n')
        : answer(401, "application/json", '{"status":401,"message":"","error":"Event key not found"}\n');
    }
    const [, token = ""] = /^Bearer (?:signkey-\w+-)?(\w+)$/.exec(request.headers.authorization ?? "") ?? [];
    return token === hash || token === SIGNING_KEY
      ? answer(200, "application/json", '{"data":[],"metadata":{}}')
      : answer(401, "text/plain; charset=utf-8", "Authentication failed\n");
  };
}

/** `inngest dev`, which accepts any key. */
export const devServer: RequestListener = (request, response) => {
  response.setHeader("X-Inngest-Server-Kind", "dev");
  response.end(request.url === "/health" ? '{"status":200,"message":"OK"}' : '{"ids":[""],"status":200}');
};
