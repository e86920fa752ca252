import { expect, test } from "vitest";
import { mintOrgId } from "@/server/auth/mint-org-id";
import { STREAM_PLACES, takeStreamPlace } from "./stream-places";

/** One process with its places: people of organizations take them by name. */
function openProcess() {
  const process = { pool: {} };
  return {
    take: (org: string, user: string) => takeStreamPlace(process, { orgId: mintOrgId(org), userId: user }),
    /** Takes so many places in an organization, none of its people more than they may. */
    fill(org: string, count: number): (() => void)[] {
      return Array.from({ length: count }, (_, n) => {
        const place = this.take(org, `${org}-${Math.floor(n / STREAM_PLACES.person)}`);
        if ("refusal" in place) throw new Error(`place ${n + 1} of ${count}: ${place.refusal}`);
        return place.leave;
      });
    },
  };
}

test("a person's streams are limited", () => {
  const { take } = openProcess();
  for (let n = 0; n < STREAM_PLACES.person; n++) expect(take("acme", "ada")).toHaveProperty("leave");
  expect(take("acme", "ada")).toEqual({ refusal: expect.stringMatching(/^You have 20 live views open/) });
  // In another organization of theirs as well: tabs of one browser.
  expect(take("beta", "ada")).toHaveProperty("refusal");
  expect(take("acme", "bob")).toHaveProperty("leave");
});

test("an organization's streams are limited, without affecting others", () => {
  const process = openProcess();
  const [leave] = process.fill("acme", STREAM_PLACES.organization);
  const refusal = expect.stringMatching(/^Your organization has 200 live views open/);
  expect(process.take("acme", "a newcomer")).toEqual({ refusal });
  expect(process.take("beta", "a stranger")).toHaveProperty("leave");
  leave?.();
  expect(process.take("acme", "a newcomer")).toHaveProperty("leave");
  expect(process.take("acme", "another")).toEqual({ refusal });
});

test("a process's streams are limited", () => {
  const process = openProcess();
  const places = ["acme", "beta"].flatMap((org) => process.fill(org, STREAM_PLACES.organization));
  places.push(...process.fill("gamma", STREAM_PLACES.process - places.length));
  const refusal = expect.stringMatching(/^This server has 500 live views open/);
  expect(process.take("delta", "a newcomer")).toEqual({ refusal });
  places[0]?.();
  expect(process.take("delta", "a newcomer")).toHaveProperty("leave");
  expect(process.take("delta", "another")).toEqual({ refusal });
});

test("closing a stream twice frees it once, and a refused one takes nothing", () => {
  const process = openProcess();
  const places = process.fill("acme", STREAM_PLACES.organization);
  for (let n = 0; n < STREAM_PLACES.person; n++) process.take("acme", "refused");
  places[0]?.();
  places[0]?.();
  // The refused tries left no trace: the person still has all of their own places, in another organization.
  process.fill("beta", 1);
  for (let n = 0; n < STREAM_PLACES.person; n++)
    expect(process.take("beta", "refused")).toHaveProperty("leave");
  expect(process.take("acme", "one")).toHaveProperty("leave");
  expect(process.take("acme", "two")).toHaveProperty("refusal");
});

test("another process has its own limits", () => {
  openProcess().fill("acme", STREAM_PLACES.organization);
  expect(openProcess().take("acme", "ada")).toHaveProperty("leave");
});
