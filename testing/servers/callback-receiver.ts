import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { closeServer, listen } from "./listen";

type Received = { path: string; headers: Record<string, string>; body: string };
type Answer = { status?: number; headers?: Record<string, string>; body?: string };

/**
 * A server that gets callbacks. `answer` decides what it answers; `hang`: nothing, `close`: it closes the connection.
 * `inProgress` and `mostInProgress` count requests that are not answered yet.
 */
export async function startCallbackReceiver({ port = 0 } = {}) {
  const received: Received[] = [];
  const receiver = {
    received,
    answer: (_request: Received): Answer | "hang" | "close" | Promise<Answer> => ({}),
    inProgress: 0,
    mostInProgress: 0,
    host: "",
    url: "",
    close: () => closeServer(server),
  };
  const server = createServer(async (incoming, outgoing) => {
    receiver.inProgress += 1;
    receiver.mostInProgress = Math.max(receiver.mostInProgress, receiver.inProgress);
    outgoing.once("close", () => {
      receiver.inProgress -= 1;
    });
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    );
    const body = (await buffer(incoming)).toString();
    const request = { path: incoming.url ?? "", headers, body };
    received.push(request);
    const answer = await receiver.answer(request);
    if (answer === "hang") return;
    if (answer === "close") return void incoming.socket.destroy();
    outgoing.writeHead(answer.status ?? 200, answer.headers);
    outgoing.end(answer.body ?? "ok");
  });
  receiver.host = `127.0.0.1:${await listen(server, port)}`;
  receiver.url = `http://${receiver.host}/hooks`;
  return receiver;
}
