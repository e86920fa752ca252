import { expect, it } from "vitest";
import { mintOrgId } from "@/server/base/mint-org-id";
import { MIB } from "@/server/contract/sizes";
import { heapBytesOf } from "@/server/guard/limits/process-memory";
import { RunTexts } from "./run-texts";

const LIMIT = 40 * MIB;

// Sizes in MiB: of the run's texts, then of the runs that it calls.
function textsOf(runs: Record<string, [org: string, ...mib: number[]]>) {
  const holders = Object.entries(runs).map(([id, [org, ...sizes]]) => ({
    run: { id, orgId: mintOrgId(org) },
    tree: { journals: new Set(sizes.map((mib) => ({ bytes: { heap: mib * MIB } }))) },
  }));
  const texts = new RunTexts(LIMIT, () => holders);
  return {
    texts,
    holders,
    beyond: holders.filter((holder) => texts.isBeyond(holder)).map(({ run }) => run.id),
  };
}
const claimed = (id: string, org: string, mib: number) => ({
  id,
  orgId: mintOrgId(org),
  storedBytes: mib * MIB,
});

it("leaves the largest run in memory, whatever it takes", () => {
  expect(textsOf({ a1: ["a", 30, 60] }).beyond).toEqual([]);
  expect(textsOf({ a1: ["a", 90], b1: ["b", 40] }).beyond).toEqual([]);
});

it("lets large runs leave while the texts exceed the limit, and never small ones", () => {
  const { beyond } = textsOf({ a1: ["a", 30], b1: ["b", 25], c1: ["c", 10, 6], d1: ["d", 1] });
  expect(beyond).toEqual(["a1", "b1", "c1"]);
});

it("gives one organization at most half", () => {
  const { beyond } = textsOf({ a1: ["a", 12], a2: ["a", 12], a3: ["a", 12], b1: ["b", 12] });
  expect(beyond).toEqual(["a1", "a2", "a3"]);
});

it("keeps large runs outside until there is room, and small ones never", () => {
  const { texts } = textsOf({ a1: ["a", 12], a2: ["a", 10], a3: ["a", 6], b1: ["b", 2] });
  expect(texts.admits(claimed("a4", "a", 2))).toBe(false);
  expect(texts.admits(claimed("a5", "a", 0.5))).toBe(true);
  expect(texts.admits(claimed("b2", "b", 8))).toBe(true);
  expect(texts.withoutRoom()).toEqual(["a4"]);
  texts.enter({ id: "a4" });
  expect(texts.withoutRoom()).toEqual([]);
});

const heldUp = (runs: Parameters<typeof textsOf>[0]) => {
  const { texts, holders } = textsOf(runs);
  return holders.filter((holder) => texts.isHeldUp(holder)).map(({ run }) => run.id);
};

it("holds up all but the largest run of an organization with too many texts", () => {
  expect(heldUp({ a1: ["a", 12], a2: ["a", 13], a3: ["a", 12], b1: ["b", 12] })).toEqual(["a1", "a3"]);
});

it("holds up all but the largest run of all while the texts exceed the limit, and no organization with few", () => {
  const runs = { a1: ["a", 30], b1: ["b", 25], c1: ["c", 10, 6], d1: ["d", 4] } satisfies Parameters<
    typeof textsOf
  >[0];
  expect(heldUp(runs)).toEqual(["b1", "c1"]);
});

it("holds up no run while there is room", () => {
  expect(heldUp({ a1: ["a", 90], b1: ["b", 20], b2: ["b", 5] })).toEqual([]);
});

it("lets them come back", () => {
  const { texts } = textsOf({ a1: ["a", 12], b1: ["b", 2] });
  texts.leave(claimed("a2", "a", 9));
  expect(texts.withoutRoom()).toEqual([]);
  expect(texts.admits(claimed("a2", "a", 9))).toBe(true);
});

it("counts two bytes for each character of a text that is not ASCII", () => {
  expect(heapBytesOf("abc")).toBe(3);
  expect(heapBytesOf("abā")).toBe(6);
});
