import { z } from "zod";

const jsonSchema = z.record(z.string(), z.json());

/** One step of a tool's workflow (docs/definition-files.md, "Tool"). */
export const workflowStep = z.strictObject({
  id: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, "letters, digits and _, not starting with a digit"),
  uses: z.string(),
  with: z.record(z.string(), z.json()).default({}),
  if: z.string().optional(),
  forEach: z.string().optional(),
  as: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/)
    .optional(),
  concurrency: z.number().int().min(1).max(20).optional(),
  retries: z.number().int().min(0).max(10).optional(),
  timeoutMs: z.number().int().min(1).max(900_000).optional(),
  onError: z.enum(["fail", "continue"]).optional(),
});
export type WorkflowStep = z.infer<typeof workflowStep>;

/** A tool as people write it: parameters, steps, output expression and output schema. */
export const workflowDefinition = z.strictObject({
  parameters: jsonSchema.default({ type: "object", properties: {} }),
  steps: z.array(workflowStep).min(1).max(100),
  /** Any JSON whose strings may contain `{{ }}`; default: the last step's output. */
  output: z.json().optional(),
  outputSchema: jsonSchema.optional(),
});
export type WorkflowDefinition = z.infer<typeof workflowDefinition>;
