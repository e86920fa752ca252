import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, it } from "vitest";
import { readEnvironment } from "@/server/base/settings/env";
import { guardKey } from "@/server/guard/limits/memory-guards";
import { testLogger } from "@/testing/log";
import { clientAddress, createProxyWarning } from "./client-address";

function warnings(env: { TRUST_PROXY?: string }, ...headers: Record<string, string>[]): number {
  const log = testLogger();
  const settings = { DATABASE_URL: "postgres://stepwell.test/db", STEPWELL_SECRET: "x".repeat(32), ...env };
  const warn = createProxyWarning({ env: readEnvironment(settings), log });
  for (const sent of headers) {
    const incoming = new IncomingMessage(new Socket());
    Object.assign(incoming.headers, sent);
    warn(incoming);
  }
  return log.entries.filter(({ message }) => message.includes("TRUST_PROXY")).length;
}

it("a proxy in front without TRUST_PROXY is reported once", () => {
  const forwarded = { "x-forwarded-for": "192.0.2.7" };
  expect(warnings({}, {}, {})).toBe(0);
  expect(warnings({}, {}, forwarded, forwarded)).toBe(1);
  expect(warnings({ TRUST_PROXY: "1" }, forwarded)).toBe(0);
});

it.each([
  ["203.0.113.5", "203.0.113.5"],
  ["198.51.100.1, 203.0.113.5", "203.0.113.5"],
  ["::ffff:203.0.113.5", "203.0.113.5"],
  ["::FFFF:203.0.113.5", "203.0.113.5"],
  ["203.0.113.5:5511", "203.0.113.5"],
  ["[2001:db8::1]:443", "2001:db8::1"],
  ["[2001:db8::1]", "2001:db8::1"],
  ["[::ffff:203.0.113.5]:443", "203.0.113.5"],
  ["2001:db8::1:5511", "2001:db8::1:5511"],
  ["unknown", "unknown"],
  ["", "192.0.2.1"],
])("the client of X-Forwarded-For: %s is %s", (forwarded, address) => {
  const call = { peer: "192.0.2.1", header: () => forwarded };
  expect(clientAddress({ trustProxy: true }, call)).toBe(address);
});

it("clients behind a dual-stack proxy have keys of their own, and one key for all ports", () => {
  const keyOf = (forwarded: string) =>
    guardKey(clientAddress({ trustProxy: true }, { peer: "192.0.2.1", header: () => forwarded }));
  expect(keyOf("::ffff:203.0.113.5")).not.toBe(keyOf("::ffff:203.0.113.6"));
  expect(keyOf("203.0.113.5:5511")).toBe(keyOf("203.0.113.5:5512"));
  expect(keyOf("[2001:db8::1]:443")).toBe(keyOf("[2001:db8::1]:444"));
});
