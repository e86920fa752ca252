import { expect, test } from "vitest";
import { mintOrgId } from "@/server/base/mint-org-id";
import { acquireStreamSlot, STREAM_LIMITS } from "./stream-slots";

function openProcess() {
  const process = { pool: {} };
  return {
    take: (org: string, user: string) => acquireStreamSlot(process, { orgId: mintOrgId(org), userId: user }),
    fill(org: string, count: number): (() => void)[] {
      return Array.from({ length: count }, (_, n) => {
        const slot = this.take(org, `${org}-${Math.floor(n / STREAM_LIMITS.person)}`);
        if ("rejection" in slot) throw new Error(`slot ${n + 1} of ${count}: ${slot.rejection}`);
        return slot.release;
      });
    },
  };
}

test("a person's streams are limited", () => {
  const { take } = openProcess();
  for (let n = 0; n < STREAM_LIMITS.person; n++) expect(take("acme", "ada")).toHaveProperty("release");
  expect(take("acme", "ada")).toEqual({ rejection: expect.stringMatching(/^You have 20 live views open/) });
  // The person's limit covers all their organizations, because the tabs share one browser.
  expect(take("beta", "ada")).toHaveProperty("rejection");
  expect(take("acme", "bob")).toHaveProperty("release");
});

test("an organization's streams are limited, without affecting others", () => {
  const process = openProcess();
  const [release] = process.fill("acme", STREAM_LIMITS.organization);
  const rejection = expect.stringMatching(/^Your organization has 200 live views open/);
  expect(process.take("acme", "another")).toEqual({ rejection });
  expect(process.take("beta", "someone else")).toHaveProperty("release");
  release?.();
  expect(process.take("acme", "another")).toHaveProperty("release");
  expect(process.take("acme", "another")).toEqual({ rejection });
});

test("a process's streams are limited, the last hundred to 20 of each organization", () => {
  const process = openProcess();
  const slots = ["acme", "beta"].flatMap((org) => process.fill(org, STREAM_LIMITS.organization));
  const rejection = expect.stringMatching(/^This server has too many live views open/);
  for (const org of ["c", "d", "e", "f", "g"]) {
    slots.push(...process.fill(org, 20));
    expect(process.take(org, "another")).toEqual({ rejection });
  }
  expect(slots).toHaveLength(STREAM_LIMITS.process);
  expect(process.take("h", "another")).toEqual({ rejection });
  slots[0]?.();
  expect(process.take("acme", "another")).toEqual({ rejection });
  expect(process.take("h", "another")).toHaveProperty("release");
  expect(process.take("h", "another")).toEqual({ rejection });
});

test("closing a stream twice frees it once, and a rejected one takes nothing", () => {
  const process = openProcess();
  const slots = process.fill("acme", STREAM_LIMITS.organization);
  for (let n = 0; n < STREAM_LIMITS.person; n++) process.take("acme", "rejected");
  slots[0]?.();
  slots[0]?.();
  // Rejected attempts do not count: the person has all their own slots in another organization.
  process.fill("beta", 1);
  for (let n = 0; n < STREAM_LIMITS.person; n++)
    expect(process.take("beta", "rejected")).toHaveProperty("release");
  expect(process.take("acme", "one")).toHaveProperty("release");
  expect(process.take("acme", "two")).toHaveProperty("rejection");
});

test("another process has its own limits", () => {
  openProcess().fill("acme", STREAM_LIMITS.organization);
  expect(openProcess().take("acme", "ada")).toHaveProperty("release");
});
