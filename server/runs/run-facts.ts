import { z } from "zod";
import { decimalText } from "@/server/base/amount";
import { RUN_STATUSES } from "@/server/contract/enums";

export const runFacts = z.object({
  id: z.string(),
  agentId: z.string().nullable(),
  toolId: z.string().nullable(),
  targetName: z.string(),
  /** SHA-256 of its frozen configuration, hexadecimal. */
  configurationHash: z.string(),
  status: z.enum(RUN_STATUSES),
  input: z.string(),
  output: z.string().nullable(),
  errorMessage: z.string().nullable(),
  cancelledBy: z.string().nullable(),
  stepsExecuted: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  actionsUsed: z.number(),
  creditsUsed: decimalText,
  createdAt: z.date(),
  startedAt: z.date().nullable(),
  finishedAt: z.date().nullable(),
});
export type RunFacts = z.infer<typeof runFacts>;
