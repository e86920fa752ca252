import { z } from "zod";
import { endpoint, idParameter } from "@/server/api/endpoint";
import { isTerminal } from "@/server/contract/enums";
import { receipt, runRecord } from "@/server/contract/run-lists";
import { type RunCancelled, runCancelled, runStarted } from "@/server/contract/shapes";
import { cancelRun } from "@/server/runs/cancel";
import { readReceipt } from "@/server/runs/read/receipt";
import { type RunRecord, readRunRecord, requireOwnRun } from "@/server/runs/read/run-lines";
import { rerun } from "@/server/runs/rerun";
import { rejectStart } from "@/server/runs/start";
import { CANCEL } from "./run";
import { exampleRun } from "./runs";
import { exampleStart, REPEATABLE, startConditions, startReply } from "./start";

const RUN = { tag: "Runs" } as const;
const input = z.object({ runId: idParameter("runId", "run") });

const exampleRecord: z.input<typeof runRecord> = {
  ...exampleRun,
  rootRunId: exampleRun.id,
  inputTokens: 388,
  outputTokens: 24,
  deadlineSeconds: 900,
  maxCredits: null,
  errorMessage: null,
  cancelledBy: null,
  fork: null,
  input: "What is 17 * 23?",
  output: "17 * 23 is 391.",
};

export const oneRun = {
  get: endpoint({
    ...RUN,
    method: "GET",
    path: "/v1/runs/{runId}",
    operationId: "getRun",
    summary: "Read a run",
    description: "All facts of a run of an agent or tool, at any time, with its usage so far.",
    successDescription: "The run's current state",
    scope: "runs:read",
    answers: "view",
    input,
    answer: runRecord,
    example: { response: exampleRecord },
    run: ({ services, actor, input: { runId } }) => readRunRecord(services, actor, runId),
  }),

  cancel: endpoint({
    ...RUN,
    method: "POST",
    path: "/v1/runs/{runId}/cancel",
    operationId: "cancelRun",
    summary: "Cancel a run",
    description: CANCEL,
    successDescription: "The run after the cancel, as far as the key may read it",
    scope: "runs:start",
    answers: "plain",
    idempotent: true,
    input,
    answer: z.union([runRecord, runCancelled]),
    example: {
      response: { ...exampleRecord, status: "Cancelled", output: null, cancelledBy: "the API key ci" },
    },
    async run({ services, actor, input: { runId } }): Promise<RunRecord | RunCancelled> {
      await requireOwnRun(services, actor, runId);
      await cancelRun(services, actor.orgId, { runId, by: `the API key ${actor.name}` });
      const run = await readRunRecord(services, actor, runId);
      if (actor.scopes.includes("runs:read")) return run;
      const { status } = run;
      const message = isTerminal(status) ? "The run has ended." : "The run ends within 30 seconds.";
      return { success: true, id: runId, status, message };
    },
  }),

  rerun: endpoint({
    ...RUN,
    method: "POST",
    path: "/v1/runs/{runId}/rerun",
    operationId: "rerunRun",
    summary: "Run again",
    description: "Starts the run's agent or tool again, with its current version and the same input.",
    successDescription: "The new run is stored and will execute",
    scope: "runs:start",
    alsoNeeds: ["runs:read"],
    answers: "start",
    requestHeaders: REPEATABLE,
    example: { response: exampleStart },
    input,
    answer: runStarted,
    async run({ services, actor, input: { runId }, call: { options, repetition } }) {
      const run = await requireOwnRun(services, actor, runId).catch((error: unknown) => ({ error }));
      const kind = "error" in run ? "agent" : run.kind;
      const conditions = startConditions(actor, kind, repetition);
      const result = await ("error" in run
        ? rejectStart(services, actor, { error: run.error, conditions })
        : rerun(services, actor, { runId, options, conditions }));
      return startReply(kind, result);
    },
  }),

  receipt: endpoint({
    ...RUN,
    method: "GET",
    path: "/v1/runs/{runId}/receipt",
    operationId: "getRunReceipt",
    summary: "Receipt of a run",
    description:
      "What the run was charged: one line for each model call and action, at the prices in force when it started. The " +
      "lines sum to creditsUsed to the fourth decimal. Runs that it started have receipts of their own. Of an open run " +
      "it has the usage so far.",
    successDescription: "The receipt",
    scope: "runs:read",
    answers: "view",
    input,
    answer: receipt,
    example: {
      response: {
        runId: exampleRun.id,
        status: "Completed",
        priceList: {
          id: "9f3c51d2b07a4e86",
          action: "0.01",
          models: [{ model: "gpt-5-mini", input: "0.1", output: "0.4" }],
        },
        lines: [
          {
            type: "model_call",
            name: "think-1",
            status: "Completed",
            provider: "openai",
            model: "gpt-5-mini",
            usage: {
              inputTokens: 388,
              cachedInputTokens: 0,
              cacheWriteTokens: 0,
              outputTokens: 31,
              reasoningTokens: 0,
              estimated: false,
              reported: [{ prompt_tokens: 388, completion_tokens: 31 }],
            },
            credits: "0.0512",
          },
          {
            type: "action",
            name: "calculate",
            status: "Completed",
            stepNumber: 1,
            childRunId: null,
            credits: "0.0100",
          },
        ],
        creditsUsed: "0.0612",
        creditsRefunded: "0.0000",
      } satisfies z.input<typeof receipt>,
    },
    async run({ services, actor, input: { runId } }) {
      await requireOwnRun(services, actor, runId);
      return readReceipt(services, actor.orgId, runId);
    },
  }),
};
