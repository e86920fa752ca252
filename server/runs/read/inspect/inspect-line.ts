import { z } from "zod";
import type { MemberActor, OrgId } from "@/server/auth/actor";
import { Prisma } from "@/server/db/generated/client";
import { AppError } from "@/server/errors";
import { readAttempts } from "@/server/runs/attempts";
import type { Services } from "@/server/services";
import { readChildCredits } from "./inspect";
import {
  CALL_LINE,
  type CallLine,
  readToolCalls,
  STEP_LINE,
  type StepLine,
  viewCallLine,
  viewStepLine,
} from "./lines";
import { type PayloadPreview, payloadPreview, previewPayload, startOf } from "./payload-preview";

/** A step with its texts and all its attempts, for the inspector. */
export type StepDetail = Omit<StepLine, "tolerated"> & {
  input: PayloadPreview;
  output: PayloadPreview | null;
  reasoning: string;
  inputTokens: number;
  outputTokens: number;
};

/** Reads one step with its texts, long ones cut. Throws not_found. */
export async function inspectStep(
  services: Services,
  actor: MemberActor,
  { runId, stepId }: { runId: string; stepId: string },
): Promise<StepDetail> {
  const [step, [texts]] = await Promise.all([
    services.db.step.findFirst({
      where: { id: stepId, runId, organizationId: actor.orgId },
      select: { ...STEP_LINE, reasoning: true, inputTokens: true, outputTokens: true },
    }),
    services.db.$queryRaw`
      SELECT ${startOf(Prisma.sql`input`, "input")}, ${startOf(Prisma.sql`output`, "output")}
      FROM steps WHERE id = ${stepId}::uuid AND run_id = ${runId}::uuid AND organization_id = ${actor.orgId}::uuid`.then(
      (rows) => z.array(stepTexts).parse(rows),
    ),
  ]);
  if (!step || !texts) throw new AppError("not_found", `There is no step ${stepId} in run ${runId}.`);
  const spent = step.childRunId ? await readChildCredits(services, actor, runId) : new Map<string, string>();
  return {
    ...viewStepLine(step, { spent, tolerant: new Set() }),
    ...texts,
    reasoning: step.reasoning,
    inputTokens: step.inputTokens,
    outputTokens: step.outputTokens,
    attempts: readAttempts(step.attempts),
  };
}

const stepTexts = z.object({ input: payloadPreview, output: payloadPreview.nullable() });

/** A model call with its texts and all its attempts, for the inspector. */
export type CallDetail = CallLine & {
  content: PayloadPreview;
  toolCalls: { id: string; name: string; arguments: string }[];
  finishReason: string | null;
  errorMessage: string | null;
};

/** Reads one model call with its texts, long ones cut. Throws not_found. */
export async function inspectCall(
  services: Services,
  actor: MemberActor,
  { runId, callId }: { runId: string; callId: string },
): Promise<CallDetail> {
  const call = await services.db.modelCall.findFirst({
    where: { id: callId, runId, organizationId: actor.orgId },
    select: { ...CALL_LINE, content: true, finishReason: true, errorMessage: true },
  });
  if (!call) throw new AppError("not_found", `There is no model call ${callId} in run ${runId}.`);
  return {
    ...viewCallLine(call),
    content: previewPayload(call.content),
    toolCalls: readToolCalls(call.toolCalls),
    finishReason: call.finishReason,
    errorMessage: call.errorMessage,
    attempts: readAttempts(call.attempts),
  };
}

/** One complete text of a run: its own input or output, or a step's. Throws not_found. */
export async function readPayload(
  services: Services,
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
