import type { Pool } from "pg";
import { z } from "zod";
import { VERSION } from "@/server/base/version";
import type { Services } from "@/server/runs/services";
import { LoopDelay, TICK_MS } from "./loop-delay";
import type { Engine } from "./port";

/** The state of a running process, as it stores it with its heartbeat. */
export const processFigures = z.object({
  version: z.string(),
  upSeconds: z.number(),
  slots: z.object({ used: z.int(), total: z.int() }),
  connections: z.object({ used: z.int(), most: z.int() }),
  memoryBytes: z.number(),
  /** Of the last minute. */
  loopDelay: z.object({ p99Ms: z.number(), longestMs: z.number() }),
});
export type ProcessFigures = z.output<typeof processFigures>;

/** A process without runs has no slots. */
export function readSlots({
  engine,
  env,
}: Pick<Services, "env"> & { engine: Pick<Engine, "slots"> }): ProcessFigures["slots"] {
  if (env.role === "web") return { used: 0, total: 0 };
  return engine.slots();
}

/** The connections of this process's pool; `waiting`: callers that wait for one. */
export function readConnections(pool: Pool) {
  const { totalCount, idleCount, waitingCount } = pool;
  return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount, most: pool.options.max };
}

/** Measures the process until it is stopped. */
export class ProcessMeter {
  readonly #delay = new LoopDelay();
  readonly #timer = setInterval(() => this.#delay.tick(), TICK_MS);

  constructor() {
    this.#timer.unref();
  }

  read(services: Pick<Services, "engine" | "env" | "pool">): ProcessFigures {
    const { p99, longest } = this.#delay.read();
    const { used, most } = readConnections(services.pool);
    return {
      version: VERSION,
      upSeconds: Math.round(process.uptime()),
      slots: readSlots(services),
      connections: { used, most },
      memoryBytes: process.memoryUsage.rss(),
      loopDelay: { p99Ms: Math.round(p99), longestMs: Math.round(longest) },
    };
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
