import { expect, vi } from "vitest";
import { z } from "zod";
import type { Wired } from "@/process-services";
import { readEnvironment } from "@/server/base/settings/env";
import type { Models } from "@/server/work/models/port";
import { closeServices, wire } from "@/wiring";
import { testLogger } from "./log";
import { quietModels, type World } from "./world";

/** A process as in production, on a world's database: the real clock and engine, a scripted model. */
export type TestProcess = Wired & { stop(): Promise<void> };

/** Creates a process; `engine.execute()` makes it execute runs. */
export function createProcess(
  world: World,
  { env = {}, call = quietModels.call }: { env?: Record<string, string>; call?: Models["call"] } = {},
): TestProcess {
  const settings = {
    STEPWELL_SECRET: "test-secret-test-secret-test-secret",
    APP_URL: "http://stepwell.test",
    ...env,
    DATABASE_URL: world.env.databaseUrl,
  };
  const services = wire(readEnvironment(settings), testLogger());
  services.models = { ...quietModels, call };
  return Object.assign(services, {
    async stop() {
      await services.engine.stop(0);
      await closeServices(services);
    },
  });
}

/**
 * Waits until a process without free slots has asked who waits for one, and acted on it. Call it after starting the
 * waiting run.
 */
export async function untilSharesAreKnown({ pool }: Pick<World, "pool">): Promise<void> {
  const query = pool.query.bind(pool);
  let asked = 0;
  const spy = vi.spyOn(pool, "query").mockImplementation((...args: unknown[]) => {
    if (statementName(args) === "count-waiting") asked += 1;
    return Reflect.apply(query, pool, args);
  });
  // The second query shows that the first answer was applied.
  await expect.poll(() => asked).toBeGreaterThan(1);
  spy.mockRestore();
}

const named = z.object({ name: z.string() });

/** The name of the statement that `pool.query` or `client.query` was called with; undefined for an unnamed one. */
export function statementName([statement]: readonly unknown[]): string | undefined {
  return named.safeParse(statement).data?.name;
}
