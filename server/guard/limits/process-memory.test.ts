import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { MIB } from "@/server/contract/sizes";
import { memoryLimit, ProcessMemory, weightOf } from "./process-memory";

function measure(text: string): number {
  const script = `
    const { setFlagsFromString, getHeapStatistics } = require("node:v8");
    setFlagsFromString("--expose-gc");
    const collect = require("node:vm").runInNewContext("gc");
    const text = require("node:fs").readFileSync(0, "latin1");
    const used = () => (collect(), collect(), getHeapStatistics().used_heap_size);
    const before = used();
    globalThis.value = JSON.parse(text);
    process.stdout.write(String(used() - before));`;
  return Number(execFileSync(process.execPath, ["-e", script], { input: text, encoding: "utf8" }));
}

const list = (item: (index: number) => string, count: number) =>
  `[${Array.from({ length: count }, (_, index) => item(index)).join(",")}]`;

it.each([
  ["objects", list(() => "{}", 300_000)],
  ["lists", list(() => "[]", 300_000)],
  ["nested lists", list(() => "[".repeat(100) + "]".repeat(100), 3_000)],
  ["numbers", list((n) => String(n), 100_000)],
  ["names that differ", list((n) => `{"k${n}":1}`, 60_000)],
  ["records", list((n) => `{"id":${n},"name":"row ${n}","tags":["a","b"]}`, 20_000)],
  ["a text", JSON.stringify('[{"'.repeat(300_000))],
])("weighs %s as what they take of the heap", (_name, text) => {
  const measured = measure(text);
  expect(weightOf(text)).toBeGreaterThan(measured * 0.6);
  expect(weightOf(text)).toBeLessThan(measured * 8 + MIB);
});

it("limits a process by its heap, its container and the machine", () => {
  const unlimited = 2 ** 64;
  const limits = { heap: 4096 * MIB, container: unlimited, machine: 32_768 * MIB };
  expect(memoryLimit(limits)).toBe(4096 * MIB);
  expect(memoryLimit({ ...limits, container: 0 })).toBe(4096 * MIB);
  expect(memoryLimit({ ...limits, container: 2048 * MIB })).toBe(1536 * MIB);
  expect(memoryLimit({ ...limits, container: 2048 * MIB, processes: 2 })).toBe(768 * MIB);
  expect(memoryLimit({ ...limits, machine: 1024 * MIB })).toBe(768 * MIB);
  expect(memoryLimit()).toBeGreaterThan(64 * MIB);
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

function bench(used = 0) {
  const memory = new ProcessMemory({ limit: 96 * MIB, used: () => used * 96 * MIB });
  const held: string[] = [];
  const hold = (organizationId: string, mib: number, name = organizationId) => {
    const step = memory.openRun(organizationId).openStep();
    void step.hold(mib * MIB).then(() => held.push(name));
    return step;
  };
  return { memory, held, hold };
}

it("lets steps wait for memory, by organization, and never blocks a step that has some", async () => {
  // 24 MiB are for steps, half of them for one organization; each value counts three times.
  const { hold, held } = bench(0.9);
  const first = hold("a", 3, "a1");
  const second = hold("a", 2, "a2");
  hold("b", 3);
  hold("c", 3);
  await settled();
  expect(held).toEqual(["a1", "b"]);
  await first.hold(50 * MIB);
  first.release();
  await settled();
  expect(held).toEqual(["a1", "b", "a2", "c"]);
  second.release();
  second.release();
});

it("serves an organization without work beyond the share, while the heap has room", async () => {
  const { hold, held } = bench(0.5);
  for (const name of ["a", "b", "c"]) hold(name, 4);
  hold("c", 1, "c2");
  await settled();
  expect(held).toEqual(["a", "b", "c"]);
});

it("never lets a value wait that is light, or larger than the share while no other work is in progress", async () => {
  const { hold, held } = bench(0.9);
  hold("a", 90, "large");
  hold("a", 0.1, "light");
  await settled();
  expect(held).toEqual(["large", "light"].reverse());
});

it("lets responses wait for memory, but never a step that holds some for values", async () => {
  const { memory, held } = bench(0.9);
  // 12 MiB are for responses, half of them for one organization.
  const respond = (name: string) => {
    const step = memory.openRun("a").openStep();
    void step.holdResponse(2 * MIB).then(() => held.push(name));
    return step;
  };
  const first = respond("first");
  const second = respond("second");
  await first.hold(3 * MIB);
  const third = memory.openRun("a").openStep();
  void third.hold(3 * MIB).then(() => held.push("third"));
  await settled();
  expect(held).toEqual(["first"]);
  await first.holdResponse(50 * MIB);
  first.releaseBodies();
  await settled();
  expect(held).toEqual(["first", "second"]);
  first.release();
  await settled();
  expect(held).toEqual(["first", "second", "third"]);
  second.release();
});

it("ends a wait with its run", async () => {
  const { memory, hold, held } = bench(0.9);
  const first = hold("a", 4);
  const stop = new AbortController();
  const waiting = memory
    .openRun("a", { signal: stop.signal })
    .openStep()
    .hold(4 * MIB);
  stop.abort(new Error("cancelled"));
  await expect(waiting).rejects.toThrow("cancelled");
  first.release();
  hold("a", 4, "next");
  await settled();
  expect(held).toEqual(["a", "next"]);
});

it("keeps values up to a share for each organization and for all", () => {
  const { memory } = bench();
  const runs = ["a", "b", "c"].map((name) => memory.openRun(name));
  const [a, b, c] = runs;
  // 12 MiB may be kept, half of them by one organization.
  expect([a?.keep(5 * MIB), a?.keep(2 * MIB), b?.keep(6 * MIB), c?.keep(2 * MIB)]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  b?.close();
  expect(c?.keep(2 * MIB)).toBe(true);
  for (const run of runs) run.close();
  expect(a?.keep(6 * MIB)).toBe(true);
});

it("reads the body of an organization without one although the bodies of others leave no room", async () => {
  const memory = new ProcessMemory({ limit: 16 * MIB, used: () => 0 });
  let finish = () => {};
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const others = ["a", "b"].map((org) => memory.answer(org, { bytes: MIB / 2 }, () => slow));
  const order: string[] = [];
  const second = memory.answer("a", { bytes: MIB / 2 }, async () => order.push("a's second"));
  await memory.answer("c", { bytes: MIB / 2 }, async () => order.push("c"));
  finish();
  await Promise.all([...others, second]);
  expect(order).toEqual(["c", "a's second"]);
});

it("reads the bodies of one webhook in a quarter of its organization's memory, and those of who is still there", async () => {
  // 4 MiB are for an organization's bodies, each of which counts twice.
  const memory = new ProcessMemory({ limit: 64 * MIB, used: () => 0 });
  const begun: string[] = [];
  let finish = () => {};
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const begin = (name: string, more: { webhook?: string; from?: AbortController } = {}) =>
    memory.answer("a", { bytes: MIB / 2, ...more }, async () => {
      begun.push(name);
      await slow;
    });
  const calls = [begin("hook", { webhook: "w" }), begin("hook's second", { webhook: "w" })];
  const gone = new AbortController();
  calls.push(begin("gone", { webhook: "w", from: gone }));
  calls.push(begin("other hook", { webhook: "x" }));
  await settled();
  calls.push(begin("call"), begin("second call"));
  const leaving = new AbortController();
  calls.push(begin("left", { from: leaving }), begin("third call"));
  await settled();
  expect(begun).toEqual(["hook", "other hook", "call", "second call"]);
  gone.abort();
  leaving.abort();
  await settled();
  expect(begun.slice(4)).toEqual(["gone", "left"]);
  finish();
  await Promise.all(calls);
  expect(begun.slice(6).sort()).toEqual(["hook's second", "third call"]);
});

it("lets steps that are held up wait, behind others of their organization, until they are admitted", async () => {
  const memory = new ProcessMemory({ limit: 96 * MIB, used: () => 0 });
  const held: string[] = [];
  let isHeldUp = true;
  const begin = (name: string, waits?: { isHeldUp: () => boolean }) => {
    const step = memory.openRun("a", waits).openStep();
    void step.holdResponse(MIB).then(() => held.push(name));
    return step;
  };
  const crowding = begin("crowding", { isHeldUp: () => isHeldUp });
  const free = begin("free");
  await settled();
  expect(held).toEqual(["free"]);
  free.release();
  await settled();
  expect(held).toEqual(["free"]);
  isHeldUp = false;
  memory.admit();
  await settled();
  expect(held).toEqual(["free", "crowding"]);
  crowding.release();
});

it("lets the calls of a group wait for bodies, each for its own", async () => {
  const memory = new ProcessMemory({ limit: 96 * MIB, used: () => 90 * MIB });
  const group = memory.openRun("a").openStep();
  const held: string[] = [];
  const call = (name: string) => {
    const own = group.openMember();
    void own.holdResponse(MIB).then(() => held.push(name));
    return own;
  };
  const first = call("first");
  const second = call("second");
  await settled();
  expect(held).toEqual(["first"]);
  first.release();
  await settled();
  expect(held).toEqual(["first", "second"]);
  second.release();
});

it("lets the calls of a group that holds memory take turns, and never wait for others", async () => {
  const memory = new ProcessMemory({ limit: 96 * MIB, used: () => 90 * MIB });
  const other = memory.openRun("a").openStep();
  await other.holdResponse(MIB);
  const group = memory.openRun("a").openStep();
  await group.hold(MIB);
  const held: string[] = [];
  const call = (name: string, parent = group) => {
    const own = parent.openMember();
    void own.holdResponse(50 * MIB).then(() => held.push(name));
    return own;
  };
  const first = call("first");
  const second = call("second", group.openMember());
  await settled();
  expect(held).toEqual(["first"]);
  // Its own value does not wait for its own turn.
  await first.hold(50 * MIB);
  first.release();
  await settled();
  expect(held).toEqual(["first", "second"]);
  second.releaseWithGroups();
  const next = memory.openRun("a").openStep();
  void next.hold(7 * MIB).then(() => held.push("next"));
  await settled();
  expect(held).toEqual(["first", "second", "next"]);
  next.release();
  other.release();
});

it("begins no work beyond twice the share, whatever the heap has", async () => {
  // 24 MiB are for values.
  const memory = new ProcessMemory({ limit: 96 * MIB, used: () => 0 });
  const held: string[] = [];
  const begin = (name: string, mib: number) => {
    const step = memory.openRun(name).openStep();
    void step.hold(mib * MIB).then(() => held.push(name));
    return step;
  };
  const first = begin("a", 20);
  begin("b", 20);
  begin("c", 1);
  await settled();
  expect(held).toEqual(["a"]);
  first.release();
  await settled();
  expect(held).toEqual(["a", "b"]);
});

it("lets a request wait no longer than its call", async () => {
  const { memory } = bench();
  await memory.enter("org-a", { kind: "bodies", cost: 96 * MIB });
  const call = new AbortController();
  const step = memory.openRun("org-b", { signal: new AbortController().signal }).openStep();
  const held = step.holdRequest(MIB, call.signal);
  call.abort(new Error("The step took longer than 50 ms."));
  await expect(held).rejects.toThrow("50 ms");
});
