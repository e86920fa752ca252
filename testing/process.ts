import { readEnvironment } from "@/server/env";
import type { Models } from "@/server/models/port";
import { closeServices, type Wired, wire } from "@/wiring";
import { testLogger } from "./log";
import { quietModels, type World } from "./world";

/** A process as production assembles it, on a world's database: the real clock, the real engine, a scripted model. */
export type TestProcess = Wired & { stop(): Promise<void> };

/** Assembles a process; `engine.execute()` makes it execute runs. */
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
