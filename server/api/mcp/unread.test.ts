import { expect, it, vi } from "vitest";
import { passOn, Unread } from "./unread";

it("waits while a client has not taken what was sent", async () => {
  const unread = new Unread();
  const never = new AbortController().signal;
  await unread.drained(never);
  for (let n = 0; n < 40; n += 1) unread.add();
  let isDrained = false;
  const drained = unread.drained(never).then(() => {
    isDrained = true;
  });
  for (let n = 0; n < 8; n += 1) unread.take();
  await Promise.resolve();
  expect(isDrained).toBe(false);
  unread.take();
  await drained;
  for (let n = 0; n < 40; n += 1) unread.add();
  const leaving = new AbortController();
  const left = unread.drained(leaving.signal);
  leaving.abort();
  await left;
});

it("reads a response only as its client takes it, and tells when it is over", async () => {
  const pull = vi.fn((stream: ReadableStreamDefaultController<Uint8Array>) => {
    stream.enqueue(new Uint8Array(1));
    if (pull.mock.calls.length === 3) stream.close();
  });
  const open = () => new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
  const onOver = vi.fn();
  const reader = passOn(open(), { unread: new Unread(), onOver }).getReader();
  await reader.read();
  expect(pull).toHaveBeenCalledTimes(1);
  await reader.read();
  await reader.read();
  expect(onOver).not.toHaveBeenCalled();
  expect((await reader.read()).done).toBe(true);
  expect(onOver).toHaveBeenCalledTimes(1);
  await passOn(open(), { unread: new Unread(), onOver }).cancel();
  expect(onOver).toHaveBeenCalledTimes(2);
});
