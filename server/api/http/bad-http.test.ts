import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { refuseTunnel } from "./bad-http";

test.each(["breaks off", "stays"])("CONNECT is refused, also when the client %s", async (what) => {
  const server = createServer().on("connect", refuseTunnel).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const accepted = once(server, "connection");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const client = connect({ port: port ?? 0, host: "127.0.0.1", allowHalfOpen: true });
  client.on("error", () => {});
  onTestFinished(() => void client.destroy());
  const answer = once(client, "data");
  client.write("CONNECT elsewhere.test:443 HTTP/1.1\r\nHost: elsewhere.test\r\n\r\n");
  const [socket] = await accepted;
  const closed = once(socket, "close");
  expect(String((await answer)[0])).toMatch(/^HTTP\/1.1 400 [\s\S]*"code":"invalid_request"/);
  if (what === "breaks off") client.resetAndDestroy();
  await closed;
});
