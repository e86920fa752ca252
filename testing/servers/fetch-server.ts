import { createServer } from "node:http";
import { targetOf } from "@/server/api/http/node-http";
import { closeServer, listen } from "./listen";

/** Serves a handler of web requests on loopback. Returns its origin. */
export async function serveFetch(
  handle: (request: Request) => Promise<Response>,
): Promise<{ origin: string; close(): Promise<void> }> {
  const server = createServer();
  const origin = `http://127.0.0.1:${await listen(server)}`;
  server.on("request", async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
    const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    const body = chunks.length === 0 ? null : Buffer.concat(chunks);
    const method = incoming.method ?? "GET";
    const response = await handle(new Request(targetOf(incoming, origin), { method, headers, body }));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(await response.text());
  });
  return { origin, close: () => closeServer(server) };
}
