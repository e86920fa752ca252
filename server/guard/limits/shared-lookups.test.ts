import { expect, test } from "vitest";
import { SharedLookups } from "./shared-lookups";

function createLookups() {
  const shared = new SharedLookups<number>();
  const owner = {};
  const open: { resolve: (value: number) => void; reject: (error: Error) => void }[] = [];
  const look = () => new Promise<number>((resolve, reject) => open.push({ resolve, reject }));
  return { open, share: (key: string, of: object = owner) => shared.share(of, key, look) };
}

test("many equal lookups at once cost two, other keys and owners their own", async () => {
  const { open, share } = createLookups();
  const first = share("a");
  const others = Array.from({ length: 300 }, () => share("a"));
  const [otherKey, otherOwner] = [share("b"), share("a", {})];
  expect(open).toHaveLength(3);
  open[0]?.resolve(1);
  expect(await first).toBe(1);
  await expect.poll(() => open.length).toBe(4);
  for (const [index, lookup] of open.entries()) lookup.resolve(10 + index);
  expect(new Set(await Promise.all(others))).toEqual(new Set([13]));
  expect(await Promise.all([otherKey, otherOwner])).toEqual([11, 12]);
});

test("none takes the result of a lookup that began before it", async () => {
  const { open, share } = createLookups();
  const early = share("a");
  const late = share("a");
  open[0]?.resolve(1);
  await early;
  await expect.poll(() => open.length).toBe(2);
  const latest = share("a");
  open[1]?.resolve(2);
  await expect.poll(() => open.length).toBe(3);
  open[2]?.resolve(3);
  expect(await Promise.all([late, latest])).toEqual([2, 3]);
});

test("a failed lookup fails those that share it, and no later one", async () => {
  const { open, share } = createLookups();
  const early = share("a");
  const late = [share("a"), share("a")];
  open[0]?.reject(new Error("lost"));
  await expect(early).rejects.toThrow("lost");
  await expect.poll(() => open.length).toBe(2);
  open[1]?.resolve(2);
  expect(await Promise.all(late)).toEqual([2, 2]);
});
