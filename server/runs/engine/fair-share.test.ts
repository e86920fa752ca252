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
    ["by nobody while nobody waits", [share("a", 40, 0), share("b", 0, 0)], {}],
    ["by nobody to its own runs", [share("a", 40, 100)], {}],
    ["by who has them all to a newcomer", [share("a", 40, 20), share("b", 0, 1)], { a: 1 }],
    ["until both have as many", [share("a", 40, 0), share("b", 0, 30)], { a: 20 }],
    ["not for a difference of one", [share("a", 2, 0), share("b", 1, 1)], {}],
    ["by the largest first", [share("a", 10, 0), share("b", 30, 0), share("c", 0, 3)], { b: 3 }],
    ["to each newcomer", [share("a", 40, 0), share("b", 0, 1), share("c", 0, 1)], { a: 2 }],
  ])("%s", (_what, shares, expected) => {
    expect(owed(...shares)).toEqual(expected);
  });

  it("never leaves a giver with fewer slots than the taker, and leaves nothing to yield", () => {
    const some = fc.array(fc.record({ running: fc.nat(60), waiting: fc.nat(60) }), { maxLength: 8 });
    fc.assert(
      fc.property(some, (parts) => {
        const shares = parts.map(({ running, waiting }, index) => share(String(index), running, waiting));
        const given = slotsToYield(shares);
        const sum = [...given.values()].reduce((all, one) => all + one, 0);
        const waiting = shares.reduce((all, one) => all + one.waiting, 0);
        expect(sum).toBeLessThanOrEqual(waiting);
        const least = Math.min(
          ...shares
            .filter((one) => one.waiting > 0 && !given.has(one.organizationId))
            .map((one) => one.running),
        );
        for (const [giver, places] of given) {
          const before = shares.find(({ organizationId }) => organizationId === giver)?.running ?? 0;
          expect(before - places).toBeGreaterThanOrEqual(least + 1);
        }
      }),
    );
  });
});
