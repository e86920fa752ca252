import { isAppError } from "@/server/base/errors";
import { memberOf } from "@/server/base/json/json";
import { isTerminal } from "@/server/contract/enums";
import type { EventSink } from "@/server/runs/live/event-stream";
import { followRun } from "@/server/runs/live/follow-run";
import { START } from "@/server/runs/live/position";
import type { RunRef } from "@/server/runs/read/events/read-events";
import { readRun } from "@/server/runs/read/read-run";
import type { RunFacts } from "@/server/runs/run-facts";
import type { Exchange } from "./exchange";

/** Sends progress; null if the caller did not ask for it. */
export type Report = ((message: string) => Promise<void>) | null;

// A run may last longer: the wait is repeated.
const WAIT_MS = 3_600_000;

/**
 * Waits for the end of a run and reports its progress. Returns null if the client leaves or this process stops. Throws
 * an AppError if the key loses its access.
 */
export async function followCall(
  exchange: Exchange,
  { ref, report }: { ref: RunRef; report: Report },
): Promise<RunFacts | null> {
  const { services, actor, confirm, gone } = exchange;
  const over = new AbortController();
  const stop = () => over.abort();
  gone.addEventListener("abort", stop, { once: true });
  const progress = report === null ? null : reportProgress(exchange, { ref, report, signal: over.signal });
  try {
    for (;;) {
      const wait = { ms: WAIT_MS, caller: actor.apiKeyId, confirm, signal: gone };
      await services.endWaiters.wait(ref.runId, wait);
      await confirm();
      const run = await readRun(services, actor, ref);
      if (isTerminal(run.status)) {
        await progress;
        return run;
      }
      if (gone.aborted || services.endWaiters.isClosed) return null;
    }
  } finally {
    gone.removeEventListener("abort", stop);
    over.abort();
  }
}

/** Ends after the run's last event. The result does not depend on it: its errors are only logged. */
async function reportProgress(
  { services, actor, unread }: Exchange,
  { ref, report, signal }: { ref: RunRef; report: NonNullable<Report>; signal: AbortSignal },
): Promise<void> {
  let sent: Promise<void> = Promise.resolve();
  const sink: EventSink = {
    drained: () => unread.drained(signal),
    send({ name, data }) {
      const message = describe(name, data);
      if (message === null || signal.aborted) return;
      unread.add();
      sent = report(message);
    },
    close: () => {},
    signal,
  };
  try {
    await followRun(services, actor, { ref, since: START, view: () => ({}), sink });
    await sent;
  } catch (error) {
    if (isAppError(error)) return;
    services.log.warn("Could not report the progress of a call", { runId: ref.runId, error });
  }
}

function describe(event: string, data: unknown): string | null {
  switch (event) {
    case "run.waiting":
      return `Waits for a ${memberOf(data, "reason")}`;
    case "run.running":
      return "Runs";
    case "step.started":
      return `${memberOf(data, "toolName")} runs`;
    case "step.completed":
      return `${memberOf(data, "toolName")}: ${memberOf(data, "status")}`;
    default:
      return null;
  }
}
