import { LRUCache } from "lru-cache";
import type { Clock } from "@/server/base/clock";
import { MIB } from "@/server/contract/sizes";
import type { RunFacts } from "./run-facts";

// MAX_BYTES is approximate.
const MAX_RUNS = 10_000;
const MAX_BYTES = 16 * MIB;
/** From the end or the read of a run. Retention may have deleted it since. */
const LIFETIME_MS = 5 * 60_000;

export type TaggedBody = { body: string; etag: string };

/** A terminal run never changes, so the bodies are sent unchanged. */
type EndedRun = { orgId: string; run: RunFacts; bodies: Map<string, TaggedBody> };

export type EndedRuns = ReturnType<typeof createEndedRuns>;

/** Runs that ended recently in this process, or were read since. */
export function createEndedRuns(clock: Pick<Clock, "monotonicMs">) {
  const runs = new LRUCache<string, EndedRun>({
    max: MAX_RUNS,
    maxSize: MAX_BYTES,
    ttl: LIFETIME_MS,
    // Each read asks the clock, which tests move; a timer would hold its time.
    ttlResolution: 0,
    noUpdateTTL: true,
    perf: { now: () => clock.monotonicMs() },
    sizeCalculation({ run, bodies }) {
      let size = 500 + 2 * (run.input.length + (run.output?.length ?? 0));
      for (const { body } of bodies.values()) size += 2 * body.length;
      return size;
    },
  });
  return {
    get: (runId: string) => runs.get(runId),
    add(orgId: string, run: RunFacts): EndedRun {
      const ended = { orgId, run, bodies: new Map<string, TaggedBody>() };
      runs.set(run.id, ended);
      return ended;
    },
    cacheBody(ended: EndedRun, view: string, body: TaggedBody): TaggedBody {
      if (runs.get(ended.run.id) !== ended) return body;
      ended.bodies.set(view, body);
      // Set again, so that its new size counts.
      runs.set(ended.run.id, ended);
      return body;
    },
  };
}
