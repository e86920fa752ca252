import { createServer, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import { TEST_CERTIFICATE } from "./certificate";
import { listen } from "./listen";

/** The answer of a mail server to a command, such as `RCPT TO:<ada@example.test>`; null for its usual answer. */
type MailAnswer = (command: string) => string | null | Promise<string | null>;

export type MailServer = {
  host: string;
  port: number;
  commands: string[];
  /** As received, with doubled dots. */
  messages: string[];
  most(): number;
  close(): Promise<void>;
};

const GREETING = "220 localhost ESMTP";

/**
 * Starts a mail server on loopback; for `answer`, `data` means a complete message. `tls`: from the start
 * (`implicit`), by STARTTLS, or none. `injects` is sent in plain text with the answer to STARTTLS.
 */
export async function startMailServer({
  answer = () => null,
  tls = "none",
  injects = "",
}: {
  answer?: MailAnswer;
  tls?: "none" | "starttls" | "implicit";
  injects?: string;
} = {}): Promise<MailServer> {
  const sockets = new Set<Socket>();
  const commands: string[] = [];
  const messages: string[] = [];
  let most = 0;

  const usual = (command: string, secure: boolean): string => {
    if (command.startsWith("EHLO")) {
      const more = tls === "starttls" && !secure ? ["250-STARTTLS"] : [];
      return ["250-localhost", ...more, "250 AUTH PLAIN"].join("\r\n");
    }
    if (command === "greeting") return GREETING;
    if (command.startsWith("AUTH")) return "235 Welcome";
    if (command === "DATA") return "354 Go on";
    return "250 OK";
  };

  const serve = (socket: Socket, secure: boolean) => {
    let rest = "";
    let inMessage = false;
    const reply = async (command: string) => {
      const text = (await answer(command)) ?? usual(command, secure);
      if (!socket.destroyed) socket.write(`${text}\r\n`, "latin1");
      return text;
    };
    socket.on("error", () => undefined);
    const onData = async (chunk: Buffer) => {
      rest += chunk.toString("latin1");
      const mark = inMessage ? "\r\n.\r\n" : "\r\n";
      const end = rest.indexOf(mark);
      if (end < 0) return;
      const text = rest.slice(0, end);
      rest = rest.slice(end + mark.length);
      if (inMessage) {
        inMessage = false;
        messages.push(text);
        await reply("data");
        return;
      }
      commands.push(`${secure ? "*" : ""}${text}`);
      if (text === "STARTTLS" && tls === "starttls") {
        socket.removeAllListeners("data");
        socket.write(`220 Go\r\n${injects}`);
        serve(
          new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(TEST_CERTIFICATE) }),
          true,
        );
        return;
      }
      inMessage = (await reply(text)).startsWith("354");
    };
    socket.on("data", (chunk: Buffer) => void onData(chunk));
    if (!secure || tls === "implicit") void reply("greeting");
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    most = Math.max(most, sockets.size);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    if (tls !== "implicit") return serve(socket, false);
    serve(
      new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(TEST_CERTIFICATE) }),
      true,
    );
  });
  const port = await listen(server);
  return {
    host: `127.0.0.1:${port}`,
    port,
    commands,
    messages,
    most: () => most,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}
