import { expect, it } from "vitest";
import { WorkerLost } from "../write/writer";
import { SleepUntil, YieldSlot } from "./interruptions";
import { Strands } from "./strands";

const START = new Date("2026-03-04T05:06:07.000Z");
const at = (seconds: number) => new Date(START.getTime() + seconds * 1000);
const NEVER = new AbortController().signal;
const create = () => new Strands(() => START);

it("leaves the slot when its only strand sleeps for long, until the time of the first sleeper", async () => {
  await expect(create().sleep(at(60), NEVER)).rejects.toMatchObject({ until: at(60) });
  const strands = create();
  const works = [90, 30, 60].map((seconds) => () => strands.sleep(at(seconds), NEVER));
  await expect(strands.fork(works)).rejects.toMatchObject({ until: at(30) });
});

it("keeps the slot for a short sleep", async () => {
  const strands = create();
  await strands.sleep(at(0.01), NEVER);
  await strands.fork([() => strands.sleep(at(0.01), NEVER), () => strands.sleep(at(0.02), NEVER)]);
});

it("keeps the slot while another strand acts, whatever it forks", async () => {
  const strands = create();
  let finish = () => {};
  const acts = async () => {
    await strands.fork([async () => {}, async () => {}]);
    await new Promise<void>((done) => {
      finish = done;
    });
    return "acted";
  };
  let left: unknown;
  const sleeping = strands.sleep.bind(strands, at(60), NEVER);
  const works = [() => sleeping().catch((error: unknown) => (left = error)), acts];
  const forked = strands.fork<unknown>(works);
  await new Promise((done) => setImmediate(done));
  expect(left).toBeUndefined();
  finish();
  expect(await forked).toEqual([expect.any(SleepUntil), "acted"]);
});

it("ends a sleep with the reason of the signal", async () => {
  const strands = create();
  const controller = new AbortController();
  const reason = new Error("cancelled");
  const forked = strands.fork([
    () => strands.sleep(at(60), controller.signal),
    () =>
      new Promise<void>((_done, reject) => controller.signal.addEventListener("abort", () => reject(reason))),
  ]);
  controller.abort(reason);
  await expect(forked).rejects.toBe(reason);
});

it("waits for all strands, and throws what decides most", async () => {
  const lost = new WorkerLost("replaced");
  const fault = new Error("fault");
  const throwing = (error: Error) => () => Promise.reject(error);
  const yielding = throwing(new YieldSlot("next"));
  await expect(create().fork([yielding, throwing(fault)])).rejects.toBe(fault);
  await expect(create().fork([throwing(fault), throwing(lost), yielding])).rejects.toBe(lost);
  let rested = false;
  const slow = async () => {
    await new Promise((done) => setImmediate(done));
    rested = true;
  };
  await expect(create().fork<void>([throwing(fault), slow])).rejects.toBe(fault);
  expect(rested).toBe(true);
});
