import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { closeServer, listen } from "./listen";

type ReceivedRequest = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  atMs: number;
};
/** Null: the connection is cut. */
export type ScriptedAnswer =
  | { status: number; headers?: Record<string, string>; body?: object | string }
  | ((response: ServerResponse) => void)
  | null;

/** A server that gives the answers in their order, then the last one again. It notes the requests. */
export async function openScriptedServer(...answers: [ScriptedAnswer, ...ScriptedAnswer[]]) {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    let body = "";
    for await (const part of incoming) body += String(part);
    const { method = "", url: path = "", headers } = incoming;
    const answer = answers[Math.min(requests.length, answers.length - 1)] ?? null;
    requests.push({ method, path, headers, body, atMs: performance.now() });
    if (answer === null) return void incoming.socket.destroy();
    if (typeof answer === "function") return answer(outgoing);
    const { status, headers: more = {}, body: sent = "" } = answer;
    outgoing.writeHead(status, { "content-type": "application/json", ...more });
    outgoing.end(typeof sent === "string" ? sent : JSON.stringify(sent));
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  return { url, requests, close: () => closeServer(server) };
}
