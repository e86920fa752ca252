import { LRUCache } from "lru-cache";
import { MIB } from "@/server/contract/sizes";
import type { RunFacts } from "./run-facts";

// MAX_BYTES is approximate.
const MAX_RUNS = 10_000;
const MAX_BYTES = 16 * MIB;

export type TaggedBody = { body: string; etag: string };

/** A terminal run never changes, so the bodies are sent unchanged. */
type EndedRun = { orgId: string; run: RunFacts; bodies: Map<string, TaggedBody> };

export type EndedRuns = ReturnType<typeof createEndedRuns>;

/** Runs that ended recently in this process, or were read since. */
export function createEndedRuns() {
  const runs = new LRUCache<string, EndedRun>({
    max: MAX_RUNS,
    maxSize: MAX_BYTES,
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
