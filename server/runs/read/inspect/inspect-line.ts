import { z } from "zod";
import type { MemberActor, OrgId } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { readAttempts, readToolCalls } from "@/server/runs/attempts";
import type { Services } from "@/server/runs/services";
import { readChildCredits, readSkipNotes } from "./inspect";
import { CALL_OF_TIMELINE, STEP_OF_TIMELINE, viewCallLine, viewStepLine } from "./lines";
import { payloadPreview, previewPayload, startOf } from "./payload-preview";

export type StepDetail = Awaited<ReturnType<typeof inspectStep>>;

export type CallDetail = Awaited<ReturnType<typeof inspectCall>>;

const READ_TEXTS = defineQuery(
  "read-step-texts",
  z.object({ input: payloadPreview, output: payloadPreview.nullable() }),
  `SELECT ${startOf("input")} AS input, ${startOf("output")} AS output
   FROM steps WHERE id = $1 AND run_id = $2 AND organization_id = $3`,
);

/** Reads one step with its texts, long ones cut. Throws not_found. */
export async function inspectStep(
  services: Pick<Services, "db" | "pool">,
  actor: MemberActor,
  { runId, stepId }: { runId: string; stepId: string },
) {
  const [step, [texts]] = await Promise.all([
    services.db.step.findFirst({
      where: { id: stepId, runId, organizationId: actor.orgId },
      select: { ...STEP_OF_TIMELINE, reasoning: true, inputTokens: true, outputTokens: true },
    }),
    READ_TEXTS(services.pool, [stepId, runId, actor.orgId]),
  ]);
  if (!step || !texts) throw new AppError("not_found", `There is no step ${stepId} in run ${runId}.`);
  const { reasoning, inputTokens, outputTokens, ...line } = step;
  const spent = step.childRunId ? await readChildCredits(services, actor, runId) : undefined;
  const skipped = step.status === "Skipped" ? await readSkipNotes(services, actor, runId) : undefined;
  return {
    ...viewStepLine(line, { spent, skipped }),
    ...texts,
    reasoning,
    inputTokens,
    outputTokens,
    attempts: readAttempts(step.attempts),
  };
}

/** Reads one model call with its texts, long ones cut. Throws not_found. */
export async function inspectCall(
  services: Pick<Services, "db">,
  actor: MemberActor,
  { runId, callId }: { runId: string; callId: string },
) {
  const call = await services.db.modelCall.findFirst({
    where: { id: callId, runId, organizationId: actor.orgId },
    select: { ...CALL_OF_TIMELINE, content: true, reasoning: true, finishReason: true, errorMessage: true },
  });
  if (!call) throw new AppError("not_found", `There is no model call ${callId} in run ${runId}.`);
  const { content, reasoning, finishReason, errorMessage, ...line } = call;
  return {
    ...viewCallLine({ ...line, errorMessage }),
    content: previewPayload(content),
    reasoning: previewPayload(reasoning),
    toolCalls: readToolCalls(call.toolCalls),
    finishReason,
    errorMessage,
    attempts: readAttempts(call.attempts),
  };
}

/** One complete text of a run: its own input or output, or a step's. Throws not_found. */
export async function readPayload(
  services: Pick<Services, "db">,
  orgId: OrgId,
  { runId, stepId, field }: { runId: string; stepId?: string | undefined; field: "input" | "output" },
): Promise<string> {
  const where = { organizationId: orgId };
  const select = { input: field === "input", output: field === "output" };
  const found = stepId
    ? await services.db.step.findFirst({ where: { ...where, runId, id: stepId }, select })
    : await services.db.run.findFirst({ where: { ...where, id: runId }, select });
  const text = found?.[field];
  if (text === undefined || text === null)
    throw new AppError("not_found", `Run ${runId} has no such ${field}.`);
  return text;
}
