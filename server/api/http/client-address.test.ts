import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, it } from "vitest";
import { readEnvironment } from "@/server/base/settings/env";
import { testLogger } from "@/testing/log";
import { createProxyWarning } from "./client-address";

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
