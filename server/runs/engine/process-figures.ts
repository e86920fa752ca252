import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { Pool } from "pg";
import { z } from "zod";
import { VERSION } from "@/server/base/version";
import type { Services } from "@/server/runs/services";
import type { Engine } from "./port";

/** The state of a running process, as it stores it with its heartbeat. */
export const processFigures = z.object({
  version: z.string(),
  upSeconds: z.number(),
  slots: z.object({ used: z.int(), total: z.int() }),
  connections: z.object({ used: z.int(), most: z.int() }),
  memoryBytes: z.number(),
  eventLoopP99Ms: z.number(),
});
export type ProcessFigures = z.output<typeof processFigures>;

/** A process without runs has no slots. */
export function readSlots({
  engine,
  env,
}: Pick<Services, "env"> & { engine: Pick<Engine, "slots"> }): ProcessFigures["slots"] {
  if (env.role === "web") return { used: 0, total: 0 };
  const { total, free } = engine.slots();
  return { used: total - free, total };
}

/** The connections of this process's pool; `waiting`: callers that wait for one. */
export function readConnections(pool: Pool) {
  const { totalCount, idleCount, waitingCount } = pool;
  return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount, most: pool.options.max };
}

/** The interval at which the event loop's delay is measured. */
const RESOLUTION_MS = 50;
const NS_PER_MS = 1e6;

/** Measures the process between two readings. */
export class ProcessMeter {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#delay.enable();
  }

  read(services: Pick<Services, "engine" | "env" | "pool">): ProcessFigures {
    // Without a delay, it measures its own interval.
    const p99 = this.#delay.percentile(99) / NS_PER_MS - RESOLUTION_MS;
    this.#delay.reset();
    const { used, most } = readConnections(services.pool);
    return {
      version: VERSION,
      upSeconds: Math.round(process.uptime()),
      slots: readSlots(services),
      connections: { used, most },
      memoryBytes: process.memoryUsage.rss(),
      eventLoopP99Ms: Math.max(0, Math.round(p99)),
    };
  }

  stop(): void {
    this.#delay.disable();
  }
}
