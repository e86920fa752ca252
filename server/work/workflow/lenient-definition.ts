import { z } from "zod";
import { callStepSchema, workflowDefinition } from "@/server/work/workflow/definition";

/**
 * The readable parts of a rejected definition, so that all of its problems are found at once. A field with an issue
 * is null. Steps keep their positions.
 */

const { id, uses, as } = callStepSchema.shape;
const optionalText = z.string().optional().catch(undefined);
const concurrency = callStepSchema.shape.concurrency.catch(undefined);

const lenientCall = z.object({
  id: id.nullable().catch(null),
  uses: uses.nullable().catch(null),
  with: callStepSchema.shape.with.nullable().catch(null),
  if: optionalText,
  forEach: optionalText,
  as: as.catch(undefined),
  concurrency,
});
/** A step as far as it can be read. `uses` is null if the function's name is missing or no text. */
export type LenientCall = z.infer<typeof lenientCall>;

const lenientStep = lenientCall.extend({
  parallel: z
    .array(lenientCall.catch(() => lenientCall.parse({})))
    .optional()
    .catch(undefined),
});
export type LenientStep = z.infer<typeof lenientStep>;

const { parameters, output, outputSchema } = workflowDefinition.shape;
const readableParts = z.object({
  parameters: parameters.nullable().catch(null),
  steps: z.array(lenientStep.catch(() => lenientStep.parse({}))).catch([]),
  output: output.catch(undefined),
  outputSchema: outputSchema.catch(undefined),
});
export type LenientDefinition = z.infer<typeof readableParts>;
const lenientDefinition = readableParts.catch(() => readableParts.parse({}));

export function readLeniently(value: unknown): LenientDefinition {
  return lenientDefinition.parse(value);
}
