import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntilReady } from "@/server/operate/health";
import { createWorld, type World } from "@/testing/world";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

/** The world's services with an engine that answers `ready` as told, poll by poll. */
function withEngine(isReady: (poll: number) => boolean) {
  let poll = 0;
  const ready = async () => {
    poll += 1;
    return isReady(poll);
  };
  return { ...world, engine: { ...world.engine, ready }, polls: () => poll };
}

test("a process is ready once its engine is", async () => {
  const services = withEngine((poll) => poll === 3);
  expect(await waitUntilReady(services, () => {}, new AbortController().signal)).toBe(true);
  expect(services.polls()).toBe(3);
});

test("the wait ends when the process is stopped", async () => {
  const ending = new AbortController();
  const services = withEngine((poll) => {
    if (poll === 2) ending.abort();
    return false;
  });
  expect(await waitUntilReady(services, () => {}, ending.signal)).toBe(false);
});
