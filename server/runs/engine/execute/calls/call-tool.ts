import type { AttachedCallable } from "@/server/agent/definition";
import type { JsonObject } from "@/server/json/json";
import type { Execution } from "@/server/runs/engine/execute/execution";
import type { FinishedStep } from "@/server/runs/engine/write/journal";
import type { NewStep } from "@/server/runs/engine/write/journal-rows";
import { retryPolicyOf } from "@/server/workflow/retry-policy";
import { performChildStep } from "./call-run";

type AttachedTool = Extract<AttachedCallable, { kind: "tool" }>;

/** Executes a tool that an agent called, as a child run. To the agent it is one step and one action. */
export async function callTool(
  execution: Execution,
  step: Omit<NewStep, "childRunId" | "hasSideEffects">,
  { callable, input }: { callable: AttachedTool; input: JsonObject },
): Promise<FinishedStep> {
  const { toolId, version, title, definition, deadlineSeconds, maxCredits, policy } = callable;
  const begun = await execution.journal.beginStep({ ...step, childRunId: null, hasSideEffects: true });
  try {
    return await performChildStep(execution, begun, {
      call: { key: step.key, retries: retryPolicyOf(policy?.retries), reader: "agent" },
      find: async () => ({
        target: {
          targetId: toolId,
          version,
          configuration: { kind: "tool", name: title, definition },
          deadlineSeconds,
          maxCredits,
        },
        input: JSON.stringify(input),
      }),
    });
  } catch (error) {
    execution.journal.abandon(begun);
    throw error;
  }
}
