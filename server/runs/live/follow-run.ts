import { z } from "zod";
import type { ApiKeyActor } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import type { EventSink } from "@/server/runs/live/event-stream";
import { listenToRun } from "@/server/runs/live/run-changes";
import { listen } from "@/server/runs/live/run-stream";
import { finishedStep, type RunRef, readEvents, readSnapshot } from "@/server/runs/read/events/read-events";
import type { RunFacts } from "@/server/runs/run-facts";
import type { Services } from "@/server/runs/services";

const PAUSE_MS = 50;

const READ_TEXTS = defineQuery(
  "read-texts-of-calls",
  z.object({
    key: z.string(),
    iteration: z.number(),
    content: z.string(),
    isOpen: z.boolean(),
    sequence: z.number(),
  }),
  `SELECT key, iteration_number AS iteration, content, status = 'Running' AS "isOpen", sequence FROM model_calls
   WHERE run_id = $1 AND organization_id = $2 AND sequence > $3 ORDER BY iteration_number`,
);

type Follow = {
  ref: RunRef;
  /** The last event that the reader has; null: it wants a snapshot first. */
  since: number | null;
  view(run: RunFacts): object;
  sink: EventSink;
};

/**
 * Sends the events of a run after `since`, each once and in order, until it has ended. Streams read committed rows
 * only, so any process can continue one.
 */
export async function followRun(services: Services, actor: ApiKeyActor, follow: Follow): Promise<void> {
  const { ref, view, sink } = follow;
  let last = follow.since;
  const texts = new Texts(services, actor, ref.runId);
  const sendSnapshot = () =>
    services.memory.answer(actor.orgId, 0, async (memory) => {
      const { run, n, steps } = await readSnapshot(services, { actor, ref, memory });
      sink.send({ name: "snapshot", data: { ...view(run), steps: steps.map(finishedStep) }, id: n });
      return n;
    });
  /** Sends the next events after `since`; returns the number of the last one, and whether more may follow. */
  const sendEvents = (since: number) =>
    services.memory.answer(actor.orgId, 0, async (memory) => {
      const { run, events, isWhole, end } = await readEvents(services, { actor, ref, memory }, since);
      if (ref.kind === "agent") await texts.send(sink);
      for (const { n, type, data } of events) sink.send({ name: type, data, id: n });
      const isOver = isWhole && end !== null;
      if (isOver && end > since) {
        sink.send({ name: `run.${run.status.toLowerCase()}`, data: view(run), id: end });
      }
      return { n: events.at(-1)?.n ?? since, isWhole, isOver };
    });
  const look = async (): Promise<"more" | "over"> => {
    last ??= await sendSnapshot();
    for (;;) {
      const { n, isWhole, isOver } = await sendEvents(last);
      last = n;
      if (isOver) return "over";
      if (isWhole) return "more";
      await sink.drained();
      if (sink.signal.aborted) return "over";
    }
  };
  await listen({
    sink,
    pauseMs: PAUSE_MS,
    subscribe: (listener) => listenToRun(services, ref.runId, listener),
    look,
  });
}

/** The texts of model calls as they grow. They have no numbers: a reader that reconnects gets them from the start. */
class Texts {
  readonly #services: Services;
  readonly #actor: ApiKeyActor;
  readonly #runId: string;
  readonly #sent = new Map<string, string>();
  #sequence = -1;
  #isFirst = true;

  constructor(services: Services, actor: ApiKeyActor, runId: string) {
    this.#services = services;
    this.#actor = actor;
    this.#runId = runId;
  }

  async send(sink: EventSink): Promise<void> {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const rows = await READ_TEXTS(this.#services.pool, [this.#runId, this.#actor.orgId, this.#sequence]);
    for (const { key, iteration, content, isOpen, sequence } of rows) {
      this.#sequence = Math.max(this.#sequence, sequence);
      const sent = this.#sent.get(key) ?? "";
      if (isOpen) this.#sent.set(key, content);
      else this.#sent.delete(key);
      // Answers that were complete before are in the steps and the output.
      if (isFirst && !isOpen) continue;
      const continues = content.startsWith(sent);
      // An attempt started again, or another model answers.
      if (!continues) sink.send({ name: "text.reset", data: { iteration } });
      const text = continues ? content.slice(sent.length) : content;
      if (text !== "") sink.send({ name: "text.delta", data: { iteration, text } });
    }
  }
}
