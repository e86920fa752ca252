import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { withLock } from "./lock.mjs";
import { formatIdentity, isSameProcessAlive } from "./processes.mjs";

let folder: string;
let lock: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stepwell-lock-"));
  lock = join(folder, "lock");
});
afterEach(() => rmSync(folder, { recursive: true }));

it("takes over the lock of a dead process, and leaves no files", async () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  writeFileSync(lock, `${pid} 1\n`);
  const waited: string[] = [];
  expect(await withLock(lock, async () => "done", { onWait: (owner) => waited.push(owner) })).toBe("done");
  expect(waited).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

it("waits for a living owner, and reports it once", async () => {
  writeFileSync(lock, formatIdentity());
  const waited: string[] = [];
  const mine = withLock(lock, async () => "mine", {
    onWait: (owner) => {
      waited.push(owner);
      rmSync(lock);
    },
  });
  expect(await mine).toBe("mine");
  expect(waited).toEqual([String(process.pid)]);
});

it("reports every few seconds that it still waits", async () => {
  writeFileSync(lock, formatIdentity());
  let now = 1_000_000;
  vi.spyOn(Date, "now").mockImplementation(() => {
    now += 500;
    return now;
  });
  const waited: number[] = [];
  const mine = withLock(lock, async () => "mine", {
    onWait: (_owner, seconds) => {
      waited.push(seconds);
      if (waited.length === 3) rmSync(lock);
    },
  });
  expect(await mine).toBe("mine");
  vi.restoreAllMocks();
  expect(waited).toEqual([1, 7, 13]);
});

it("is released when the work fails", async () => {
  await expect(withLock(lock, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await withLock(lock, async () => 1)).toBe(1);
});

it.runIf(process.platform === "linux")("does not take a later process of the same id for the owner", () => {
  const [pid, began] = formatIdentity().trim().split(" ");
  expect(isSameProcessAlive(`${pid} ${began}`)).toBe(true);
  expect(isSameProcessAlive(`${pid} ${Number(began) - 1}`)).toBe(false);
  expect(isSameProcessAlive("")).toBe(false);
});
