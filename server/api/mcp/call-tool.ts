import type { CallToolResult } from "@modelcontextprotocol/server";
import { toAppError } from "@/server/api/http/respond";
import { AppError } from "@/server/base/errors";
import type { Callable } from "@/server/catalog/callable-definitions";
import { acquireStreamSlot } from "@/server/guard/limits/stream-slots";
import { cancelRun } from "@/server/runs/cancel";
import type { RunFacts } from "@/server/runs/run-facts";
import type { Exchange } from "./exchange";
import { followCall, type Report } from "./follow-call";
import { startCall } from "./start-call";

type Facts = { runId?: string; code?: string };

/**
 * Starts a run and answers with its end. What a caller can correct is a result with `isError`, so that a model reads it.
 * `cancelsWhenGone`: a client that disconnects cancels the run.
 */
export async function callTool(
  exchange: Exchange,
  { callable, report, cancelsWhenGone }: { callable: Callable; report: Report; cancelsWhenGone: boolean },
): Promise<CallToolResult> {
  const { services, actor, gone, over } = exchange;
  const slot = acquireStreamSlot(services, actor);
  if ("rejection" in slot) return rejection(exchange, new AppError("rate_limited", slot.rejection));
  onAbort(over, slot.release);
  try {
    const runId = await startCall(exchange, callable).finally(exchange.release);
    const stopCancel = cancelsWhenGone ? onAbort(gone, () => cancelCall(exchange, runId)) : () => {};
    try {
      const run = await followCall(exchange, { ref: { kind: callable.kind, runId }, report });
      if (run === null) return failure("The service is stopping. The run continues.", { runId });
      return await resultOf(exchange, run);
    } catch (error) {
      const { code, message } = known(error);
      return failure(`${message} The run continues.`, { runId, code });
    } finally {
      stopCancel();
    }
  } catch (error) {
    return rejection(exchange, known(error));
  }
}

/** Throws an error that is not for callers. */
function known(error: unknown): AppError {
  const shown = toAppError(error);
  if (shown.code === "internal_error") throw error;
  return shown;
}

function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) listener();
  else signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}

function cancelCall({ services, actor }: Exchange, runId: string): void {
  cancelRun(services, actor.orgId, { runId, by: `the API key ${actor.name}` }).catch((error: unknown) =>
    services.log.warn("Could not cancel the run of a call", { runId, error }),
  );
}

/** A large output counts, and waits for room, until the client has taken the result. */
async function resultOf({ services, actor, over }: Exchange, run: RunFacts): Promise<CallToolResult> {
  const facts = { runId: run.id };
  if (run.status === "Cancelled") return failure(`Cancelled by ${run.cancelledBy ?? "a user"}.`, facts);
  if (run.status === "Failed") return failure(run.errorMessage ?? "The run failed.", facts);
  const text = run.output ?? "";
  const unread = services.memory.openRun(actor.orgId).openStep();
  onAbort(over, () => unread.release());
  await unread.holdUnread(Buffer.byteLength(text), over).catch((error: unknown) => {
    if (!over.aborted) throw error;
  });
  return services.memory.answer(actor.orgId, { bytes: 0 }, async (memory) => {
    await memory.holdText(text);
    const output = readObject(text);
    const content = [{ type: "text" as const, text }];
    return { content, ...(output === null ? {} : { structuredContent: output }), _meta: facts };
  });
}

/** With the precision of JavaScript's numbers, because the protocol's package writes them. */
export function readObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

// The issues are part of the text, so that a model can correct its call.
function rejection({ services }: Exchange, { message, code, issues = [] }: AppError): CallToolResult {
  services.metrics.countRejection(code);
  const lines = issues.map((issue) => `${issue.path}: ${issue.message}`);
  return failure([message, ...lines].join("\n"), { code });
}

const failure = (message: string, facts: Facts): CallToolResult => ({
  isError: true,
  content: [{ type: "text", text: message }],
  _meta: facts,
});
