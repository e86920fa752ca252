import type { Decimal } from "@/server/credits/amount";
import { workflowDefinition } from "@/server/workflow/definition";

/** Stored definitions as they are written in definition files. */

/** The default of a definition, which is not written. */
export const DEADLINE = { deadlineSeconds: 900 };

/** The fields to write: not null, not empty, not the default. */
export function written(
  fields: Record<string, unknown>,
  defaults: Record<string, unknown> = {},
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([field, value]) =>
        value !== null &&
        value !== undefined &&
        value !== "" &&
        JSON.stringify(value) !== "[]" &&
        JSON.stringify(value) !== "{}" &&
        JSON.stringify(value) !== JSON.stringify(defaults[field]),
    ),
  );
}

/** A tool with its keys in the usual order. `definition`: its workflow as JSON. */
export function declareTool(tool: {
  slug: string;
  name: string;
  description: string;
  definition: string;
  maxCredits: Decimal | null;
  deadlineSeconds: number;
}): Record<string, unknown> {
  const { slug, name, description, definition, maxCredits, deadlineSeconds } = tool;
  return {
    slug,
    name,
    ...written({ description }),
    ...declareWorkflow(definition),
    ...written({ maxCredits: maxCredits?.toNumber(), deadlineSeconds }, DEADLINE),
  };
}

/** A workflow with its keys in the usual order. */
function declareWorkflow(definition: string): Record<string, unknown> {
  const { parameters, steps, ...rest } = workflowDefinition.parse(JSON.parse(definition));
  return {
    parameters,
    steps: steps.map(({ id, uses, with: input, ...step }) => ({
      id,
      uses,
      ...written({ with: input }),
      ...step,
    })),
    ...rest,
  };
}
