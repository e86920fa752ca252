import type { RunInspection } from "@/server/runs/read/inspect/inspect";

/** The update of a live page when a run changes. No value imports: browsers use this file. */
export type RunUpdate = ReturnType<typeof updateOf>;

/** The lines of an inspection, and the fields of its run that can change while it is open. */
export function updateOf({ run, steps, calls }: RunInspection) {
  return {
    run: {
      sequence: run.sequence,
      status: run.status,
      waiting: run.waiting,
      cancelRequested: run.cancelRequested,
      cancelledBy: run.cancelledBy,
      startedAt: run.startedAt,
      finishedAt: run.finishedAt,
      turns: run.turns,
      steps: run.steps,
      actions: run.actions,
      children: run.children,
      tokens: run.tokens,
      inputTokens: run.inputTokens,
      outputTokens: run.outputTokens,
      credits: run.credits,
      creditsWithChildren: run.creditsWithChildren,
      output: run.output,
      errorCode: run.errorCode,
      errorMessage: run.errorMessage,
      errorPreview: run.errorPreview,
      lastGoodRunId: run.lastGoodRunId,
    },
    steps,
    calls,
  };
}

/** The known run after an update, which may arrive twice or late: nothing returns to an older state. */
export function applyUpdate(known: RunInspection, update: RunUpdate): RunInspection {
  return {
    run: update.run.sequence >= known.run.sequence ? { ...known.run, ...update.run } : known.run,
    steps: mergeLines(known.steps, update.steps),
    calls: mergeLines(known.calls, update.calls),
  };
}

/** The newer one: a fetched inspection may arrive after updates that are newer. */
export function newerInspection<Inspection extends { run: { sequence: number } }>(
  known: Inspection | undefined,
  fetched: Inspection,
): Inspection {
  return known && known.run.sequence > fetched.run.sequence ? known : fetched;
}

function mergeLines<Line extends { id: string; sequence: number }>(known: Line[], changed: Line[]): Line[] {
  if (changed.length === 0) return known;
  const byId = new Map(known.map((line) => [line.id, line]));
  for (const line of changed) {
    const old = byId.get(line.id);
    if (!old || old.sequence <= line.sequence) byId.set(line.id, line);
  }
  return [...byId.values()];
}
