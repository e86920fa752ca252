// @module-tag once
import { describe, expect, it } from "vitest";
import { handleAuthRequest } from "@/server/catalog/auth/auth-requests";
import { admitSignIn } from "@/server/catalog/auth/sign-in-limits";
import { createMember, TEST_PASSWORD } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";

const ORIGIN = "http://stepwell.test";

const world = await openWorld();
const tenant = await createTenant(world);

type Sent = { email: string; password?: string; from: string; type?: string };

async function tryToSignIn({ email, password = TEST_PASSWORD, from, type = "application/json" }: Sent) {
  const isForm = type.includes("form");
  const body = isForm
    ? new URLSearchParams({ email, password }).toString()
    : JSON.stringify({ email, password });
  const request = new Request(`${ORIGIN}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": type, origin: ORIGIN, host: "stepwell.test" },
    body,
  });
  return handleAuthRequest(world, request, from);
}
const statusOf = async (sent: Sent) => (await tryToSignIn(sent)).status;

describe("password guesses", () => {
  it("that alternate with own sign-ins are delayed, and the right password of the victim is accepted", async () => {
    const from = "198.51.100.7";
    const admit = async (email: string) => {
      let waitedMs = 0;
      const sleep = async (ms: number) => {
        waitedMs += ms;
      };
      await admitSignIn(world, { email, clientAddress: from, sleep });
      return waitedMs;
    };
    const attacker = await createMember(world, tenant);
    const victim = await createMember(world, tenant);
    const waits: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (let guess = 0; guess < 9; guess += 1) waits.push(await admit(victim.email));
      expect(await statusOf({ email: attacker.email, from })).toBe(200);
    }
    // An own sign-in resets nothing for the victim's email: each guess waits longer than the one before.
    expect(waits.slice(0, 8)).toEqual([0, 0, 0, 0, 0, 500, 1_000, 1_500]);
    expect(waits.slice(14)).toEqual(Array.from({ length: 13 }, () => 5_000));
    // No account is locked, not even behind the attacker's proxy. A success ends the delay at this address.
    // The remaining counter is that of attempts from anywhere.
    expect(await statusOf({ email: victim.email, from })).toBe(200);
    expect(await admit(victim.email)).toBe(900);
    expect(await statusOf({ email: victim.email, from: "203.0.113.9" })).toBe(200);
  }, 60_000);

  it.each([
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "text/plain",
    "application/vnd.x+json",
  ])("sent as %s are rejected unread", async (type) => {
    const { email } = await createMember(world, tenant);
    const response = await tryToSignIn({ email, from: "198.51.100.20", type });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      success: false,
      code: "invalid_request",
      message: expect.stringContaining("application/json"),
      requestId: expect.any(String),
    });
  });

  it("for many people from one address are rejected beyond 60 in a minute, including successful ones", async () => {
    const own = await createMember(world, tenant);
    const from = "2001:db8::1";
    const admit = (email: string, clientAddress: string) =>
      admitSignIn(world, { email, clientAddress, sleep: async () => undefined });
    for (let i = 0; i < 59; i += 1) await admit(`person-${i}@stepwell.test`, from);
    expect(await statusOf({ email: own.email, from })).toBe(200);
    // The owner of an IPv6 network has all its addresses.
    await expect(admit("other@stepwell.test", "2001:db8::2")).rejects.toMatchObject({ code: "rate_limited" });
    await admit("other@stepwell.test", "2001:db8:1::2");
    world.clock.advance(61_000);
    await admit("other@stepwell.test", from);
  }, 60_000);

  it("for one person from many addresses are increasingly delayed, never rejected", async () => {
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    for (let i = 0; i < 250; i += 1) {
      await admitSignIn(world, { email: "victim@stepwell.test", clientAddress: `203.0.113.${i}`, sleep });
    }
    expect(waits).toHaveLength(230);
    expect(waits.slice(0, 3)).toEqual([100, 200, 300]);
    expect(waits.at(-1)).toBe(5_000);
  }, 60_000);
});

it("repeated sign-ins with the right password are never rejected", async () => {
  const { email } = await createMember(world, tenant);
  const statuses = new Set<number>();
  for (let i = 0; i < 12; i += 1) statuses.add(await statusOf({ email, from: "198.51.100.8" }));
  expect([...statuses]).toEqual([200]);
}, 60_000);

it.each([{}, { email: 1, password: "x" }, { email: "a@b.test" }, "text", null])(
  "a body of %j is rejected",
  async (body) => {
    const request = new Request(`${ORIGIN}/api/auth/sign-in/email`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: ORIGIN },
      body: JSON.stringify(body),
    });
    expect((await handleAuthRequest(world, request, "198.51.100.30")).status).toBe(400);
  },
);
