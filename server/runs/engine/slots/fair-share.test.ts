import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Share, slotsToYield } from "./fair-share";

const share = (organizationId: string, running: number, waiting: number): Share => ({
  organizationId,
  running,
  waiting,
});
const owed = (...shares: Share[]) => Object.fromEntries(slotsToYield(shares));

describe("slots to yield", () => {
  it.each([
    ["are none while no run waits", [share("a", 40, 0), share("b", 0, 0)], {}],
    ["are none for an organization's own runs", [share("a", 40, 100)], {}],
    ["are one for another organization's first run", [share("a", 40, 20), share("b", 0, 1)], { a: 1 }],
    ["are half when two organizations compete", [share("a", 40, 0), share("b", 0, 30)], { a: 20 }],
    ["are none for a difference of one", [share("a", 2, 0), share("b", 1, 1)], {}],
    ["come from the largest share", [share("a", 10, 0), share("b", 30, 0), share("c", 0, 3)], { b: 3 }],
    [
      "are one for each waiting organization",
      [share("a", 40, 0), share("b", 0, 1), share("c", 0, 1)],
      { a: 2 },
    ],
  ])("%s", (_what, shares, expected) => {
    expect(owed(...shares)).toEqual(expected);
  });

  it("never leave the yielding organization with fewer slots than the waiting one", () => {
    const some = fc.array(fc.record({ running: fc.nat(60), waiting: fc.nat(60) }), { maxLength: 8 });
    fc.assert(
      fc.property(some, (parts) => {
        const shares = parts.map(({ running, waiting }, index) => share(String(index), running, waiting));
        const yielded = slotsToYield(shares);
        const sum = [...yielded.values()].reduce((all, one) => all + one, 0);
        const waiting = shares.reduce((all, one) => all + one.waiting, 0);
        expect(sum).toBeLessThanOrEqual(waiting);
        const least = Math.min(
          ...shares
            .filter((one) => one.waiting > 0 && !yielded.has(one.organizationId))
            .map((one) => one.running),
        );
        for (const [yielding, slots] of yielded) {
          const before = shares.find(({ organizationId }) => organizationId === yielding)?.running ?? 0;
          expect(before - slots).toBeGreaterThanOrEqual(least + 1);
        }
      }),
    );
  });
});
