import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { testClock } from "@/testing/clock";
import { testLogger } from "@/testing/log";
import { closeServer, listen } from "@/testing/servers/listen";
import { connectionLimits, createConnectionBound } from "./connections";

/** `open` connects from an address of this machine, and tells if it stays connected. */
async function startServer(limits: { total: number; address: number }) {
  const log = testLogger();
  const clock = testClock();
  const server = createServer((_incoming, outgoing) => outgoing.end("hello"));
  server.on("connection", createConnectionBound({ clock, log }, limits));
  const port = await listen(server);
  onTestFinished(() => closeServer(server));
  const open = async (localAddress = "127.0.0.1"): Promise<{ socket: Socket; admitted: boolean }> => {
    const socket = connect({ port, host: "127.0.0.1", localAddress });
    socket.on("error", () => {});
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const admitted = await Promise.race([
      once(socket, "data").then(() => true),
      once(socket, "close").then(() => false),
    ]);
    return { socket, admitted };
  };
  return { open, log, clock, server };
}

const LOCAL = process.platform === "linux";

test("connections of one address are bounded, and a closed one makes room", async () => {
  const { open, log, clock, server } = await startServer({ total: 10, address: 3 });
  const opened = [await open(), await open(), await open()];
  expect(opened.map(({ admitted }) => admitted)).toEqual([true, true, true]);
  expect((await open()).admitted).toBe(false);
  expect((await open()).admitted).toBe(false);
  // On Linux each address of 127.0.0.0/8 is this machine's.
  if (LOCAL) expect((await open("127.0.0.2")).admitted).toBe(true);
  expect(log.entries).toMatchObject([{ level: "warn", fields: { ofAddress: 3 } }]);

  clock.advance(60_000);
  expect((await open()).admitted).toBe(false);
  expect(log.entries).toHaveLength(2);

  opened[0]?.socket.destroy();
  const count = () => new Promise((resolve) => server.getConnections((_error, open) => resolve(open)));
  await expect.poll(count).toBe(LOCAL ? 3 : 2);
  expect((await open()).admitted).toBe(true);
});

test("all connections together are bounded", async () => {
  const { open } = await startServer({ total: 2, address: 2 });
  expect((await open()).admitted).toBe(true);
  expect((await open()).admitted).toBe(true);
  if (LOCAL) expect((await open("127.0.0.2")).admitted).toBe(false);
});

test.each([
  [600, false, { total: 344, address: 86 }],
  [100, false, { total: 64, address: 16 }],
  [1_048_576, false, { total: 10_000, address: 2_500 }],
  [Number.POSITIVE_INFINITY, true, { total: 10_000, address: 10_000 }],
])("with %d file descriptors, behind a proxy %s", (openFiles, trustProxy, limits) => {
  expect(connectionLimits(openFiles, { trustProxy })).toEqual(limits);
});
