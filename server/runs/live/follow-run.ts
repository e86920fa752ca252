import type { ApiKeyActor } from "@/server/base/actor";
import type { EventSink } from "@/server/runs/live/event-stream";
import { listen } from "@/server/runs/live/run-stream";
import type { RunRef } from "@/server/runs/read/events/read-events";
import type { RunFacts } from "@/server/runs/run-facts";
import type { Services } from "@/server/runs/services";
import { type Position, START, writePosition } from "./position";
import { RunFollower, type Tree } from "./run-follower";

const PAUSE_MS = 50;

type Follow = {
  ref: RunRef;
  /** The position that the reader has reached; null: it wants a snapshot first. */
  since: Position | null;
  /** Also sends the events of the runs that it calls, with their path. */
  hasChildren?: boolean;
  view(run: RunFacts): object;
  sink: EventSink;
};

/**
 * Sends the events of a run after `since`, each once and in order, until it has ended. Streams read committed rows
 * only, so any process can continue one.
 */
export async function followRun(services: Services, actor: ApiKeyActor, follow: Follow): Promise<void> {
  const { ref, since, hasChildren = false, view, sink } = follow;
  let wake = () => {};
  let isNotified = true;
  const tree: Tree = {
    services,
    actor,
    sink,
    hasChildren,
    eventId: () => writePosition(root.position()),
    onChange: () => {
      isNotified = true;
      wake();
    },
  };
  const root = new RunFollower(tree, { ref, since: since ?? START, view, path: [] });
  let wantsSnapshot = since === null;
  try {
    await listen({
      sink,
      pauseMs: PAUSE_MS,
      subscribe: (listener) => {
        wake = listener;
        return root.subscribe();
      },
      look: async () => {
        if (wantsSnapshot) await root.sendSnapshot();
        wantsSnapshot = false;
        const isPoll = !isNotified;
        isNotified = false;
        return (await root.send({ isPoll })) || sink.signal.aborted ? "over" : "more";
      },
    });
  } finally {
    root.close();
  }
}
