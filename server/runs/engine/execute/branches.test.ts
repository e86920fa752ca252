import { expect, it } from "vitest";
import { YieldSlot } from "../interruptions";
import { WorkerLost } from "../write/writer";
import { Branches } from "./branches";

const START = new Date("2026-03-04T05:06:07.000Z");
const at = (seconds: number) => new Date(START.getTime() + seconds * 1000);
const NEVER = new AbortController().signal;
const create = () => new Branches(() => START);

it("leaves the slot when its only branch sleeps for long, until the time of the first sleeper", async () => {
  await expect(create().sleep(at(60), NEVER)).rejects.toMatchObject({ until: at(60) });
  const branches = create();
  const works = [90, 30, 60].map((seconds) => () => branches.sleep(at(seconds), NEVER));
  await expect(branches.fork(works)).rejects.toMatchObject({ until: at(30) });
});

it("keeps the slot for a short sleep", async () => {
  const branches = create();
  await branches.sleep(at(0.01), NEVER);
  await branches.fork([() => branches.sleep(at(0.01), NEVER), () => branches.sleep(at(0.02), NEVER)]);
});

it("keeps the slot while another branch works, whatever it forks", async () => {
  const branches = create();
  let finish = () => {};
  const busy = async () => {
    await branches.fork([async () => {}, async () => {}]);
    await new Promise<void>((done) => {
      finish = done;
    });
    return "done";
  };
  let left: unknown;
  const sleeping = branches.sleep.bind(branches, at(60), NEVER);
  const works = [() => sleeping().catch((error: unknown) => (left = error)), busy];
  const forked = branches.fork<unknown>(works);
  await new Promise((done) => setImmediate(done));
  expect(left).toBeUndefined();
  finish();
  expect(await forked).toEqual([expect.objectContaining({ until: expect.any(Date) }), "done"]);
});

it("ends a sleep with the reason of the signal", async () => {
  const branches = create();
  const controller = new AbortController();
  const reason = new Error("cancelled");
  const forked = branches.fork([
    () => branches.sleep(at(60), controller.signal),
    () =>
      new Promise<void>((_done, reject) => controller.signal.addEventListener("abort", () => reject(reason))),
  ]);
  controller.abort(reason);
  await expect(forked).rejects.toBe(reason);
});

it("waits for all branches, and throws what decides most", async () => {
  const lost = new WorkerLost("replaced");
  const issue = new Error("issue");
  const throwing = (error: Error) => () => Promise.reject(error);
  const yielding = throwing(new YieldSlot("next"));
  await expect(create().fork([yielding, throwing(issue)])).rejects.toBe(issue);
  await expect(create().fork([throwing(issue), throwing(lost), yielding])).rejects.toBe(lost);
  // A branch that was about to make a call must not wait for one that sleeps.
  const branches = create();
  const sleeping = () => branches.sleep(at(60), NEVER);
  await expect(branches.fork([sleeping, yielding])).rejects.toMatchObject({ until: undefined });
  let rested = false;
  const slow = async () => {
    await new Promise((done) => setImmediate(done));
    rested = true;
  };
  await expect(create().fork<void>([throwing(issue), slow])).rejects.toBe(issue);
  expect(rested).toBe(true);
});
