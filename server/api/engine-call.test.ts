import { expect, it } from "vitest";
import { createMetrics } from "@/server/base/metrics/metrics";
import { KIB, MIB } from "@/server/contract/sizes";
import { testLogger } from "@/testing/log";
import { respondToEngineCall } from "./engine-call";

function startEngine({ takesCalls = true } = {}) {
  const reading: { peer: string; send: () => void }[] = [];
  const services = {
    env: { trustProxy: false },
    log: testLogger(),
    metrics: createMetrics({ models: [], functions: [] }),
    engine: { takesCalls: () => takesCalls, handle: async () => new Response("done", { status: 401 }) },
  };
  const call = (peer: string, bytes: number) => {
    const headers = new Map([["content-length", String(bytes)]]);
    return respondToEngineCall(
      services,
      {
        method: "POST",
        path: "/api/inngest",
        query: "",
        header: (name) => headers.get(name) ?? null,
        headers: () => headers,
        peer,
        signal: new AbortController().signal,
        readBody: () =>
          new Promise((resolve) => void reading.push({ peer, send: () => resolve(Buffer.from("{}")) })),
      },
      new URL("http://stepwell.test/api/inngest"),
    );
  };
  return { call, reading };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it("reads no body that the process rejects anyway", async () => {
  const { call, reading } = startEngine({ takesCalls: false });
  expect((await call("192.0.2.1", 4 * MIB)).status).toBe(401);
  expect(reading).toEqual([]);
});

it("reads 16 MiB of an address and 32 MiB in all at the same time, and short bodies always", async () => {
  const { call, reading } = startEngine();
  const peers = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
  const calls = peers.flatMap((peer) => Array.from({ length: 6 }, () => call(peer, 4 * MIB)));
  await settled();
  const readOf = (peer?: string) => reading.filter((each) => each.peer === peer).length;
  expect(peers.map(readOf)).toEqual([4, 4, 0]);
  calls.push(call("192.0.2.3", 16 * KIB));
  await settled();
  expect(readOf("192.0.2.3")).toBe(1);
  // Each body that has come lets another one be read.
  for (let sent = 0; sent < calls.length; sent += 1) {
    reading[sent]?.send();
    await settled();
  }
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses).toEqual(calls.map(() => 401));
});
