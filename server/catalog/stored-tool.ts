import { z } from "zod";
import { readJson } from "@/server/base/json/json";
import { workflowStep } from "@/server/work/workflow/definition";

// Unknown keys of later versions of Stepwell must not make pages fail.
const step = z.object(workflowStep.shape);
const storedTool = z.object({
  parameters: z.unknown().optional(),
  steps: z.array(step).default([]),
  output: z.unknown().optional(),
  outputSchema: z.unknown().optional(),
});

export const readStoredTool = (definition: string) => storedTool.parse(readJson(definition));

/** The stored tool's steps, including those of groups, that call the function. */
export const findCallsOf = (functionName: string, definition: string) =>
  readStoredTool(definition)
    .steps.flatMap((each) => [each, ...(each.parallel ?? [])])
    .filter(({ uses }) => uses === functionName);
