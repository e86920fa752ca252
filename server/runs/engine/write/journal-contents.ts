import { heapBytesOf } from "@/server/guard/limits/process-memory";
import type { Attempt, ModelReply } from "@/server/work/models/port";
import { noTotals } from "../claimed-run";

/** The finished model calls and steps of a run, as its journal has them in memory. */

export type FinishedCall = Pick<ModelReply, "content" | "reasoning" | "state" | "toolCalls"> & {
  usage: { inputTokens: number; outputTokens: number };
};
export type FinishedStep = { output: string; failed: boolean };

/** The texts of a model's answer that are kept for later calls. */
export function textsOfCall({
  content,
  reasoning,
  state,
  toolCalls,
}: Pick<FinishedCall, "content" | "reasoning" | "state" | "toolCalls">): string[] {
  return [content, reasoning, state ?? "", ...toolCalls.map((call) => call.arguments)];
}

export function emptyJournal() {
  return {
    calls: new Map<string, FinishedCall>(),
    steps: new Map<string, FinishedStep>(),
    // Attempts of interrupted steps and model calls, by key.
    interrupted: new Map<string, Attempt[]>(),
    // Start times of interrupted steps, by key.
    openSteps: new Map<string, Date>(),
    // The numbers of events that steps started with, by key.
    startedEvents: new Map<string, number>(),
    lastEvent: 0,
    stepNumbers: new Map<string, number>(),
    // Keys of skipped steps whose rows exist.
    skipped: new Set<string>(),
    totals: noTotals(),
    sequence: 1,
  };
}
export type JournalContents = ReturnType<typeof emptyJournal>;

/** The bytes of the texts that a run keeps until its end. */
export class KeptBytes {
  /** Of finished steps. */
  outputs = 0;
  /** Of finished model calls. */
  answers = 0;
  heap: number;

  constructor(input: string, { calls, steps }: Pick<JournalContents, "calls" | "steps">) {
    this.heap = heapBytesOf(input);
    for (const { output } of steps.values()) this.addOutput(output);
    for (const call of calls.values()) this.addAnswer(call);
  }

  addOutput(output: string): void {
    const bytes = Buffer.byteLength(output);
    this.outputs += bytes;
    this.heap += heapBytesOf(output, bytes);
  }

  addAnswer(call: FinishedCall): void {
    for (const text of textsOfCall(call)) {
      const bytes = Buffer.byteLength(text);
      this.answers += bytes;
      this.heap += heapBytesOf(text, bytes);
    }
  }
}
