import { z } from "zod";
import { anyJson } from "@/server/base/json/any-json";
import { isJsonObject } from "@/server/base/json/json";
import { KIB } from "@/server/contract/sizes";
import { RETRY_DEFAULTS } from "@/server/work/workflow/retry-policy";

/** The limits of tools' workflows. docs/definition-files.md lists them; definition.test.ts compares. */
export const WORKFLOW_LIMITS = {
  steps: 100,
  groupSteps: 20,
  items: 1_000,
  concurrency: 20,
  retries: 10,
  longestRetryWaitMs: 300_000,
  longestTimeoutMs: 86_400_000,
  /** Of a definition's JSON. */
  definitionBytes: 512 * KIB,
  problems: 50,
} as const;

const { steps, groupSteps, concurrency, retries, longestRetryWaitMs, longestTimeoutMs } = WORKFLOW_LIMITS;
const jsonSchema = z.record(z.string(), anyJson);
const identifier = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, "letters, digits and _, not starting with a digit");
const waitMs = z.int().min(0).max(longestRetryWaitMs);

const retriesSetting = z.union(
  [
    z.int().min(0).max(retries),
    z.strictObject({
      count: z.int().min(0).max(retries).describe("Further attempts after a failure."),
      firstWaitMs: waitMs
        .default(RETRY_DEFAULTS.firstWaitMs)
        .describe("The wait before the first further attempt."),
      factor: z
        .number()
        .min(1)
        .max(10)
        .default(RETRY_DEFAULTS.factor)
        .describe("Multiplies each further wait."),
      longestWaitMs: waitMs.default(RETRY_DEFAULTS.longestWaitMs).describe("The longest wait."),
    }),
  ],
  { error: `must be a number from 0 to ${retries}, or count with firstWaitMs, factor and longestWaitMs` },
);

export const callStepSchema = z.strictObject({
  id: identifier.describe("Later steps refer to the step's output as steps.<id>."),
  uses: z.string().describe("The function to call."),
  with: z.record(z.string(), anyJson).default({}).describe("The function's input; texts may hold {{ }}."),
  if: z.string().optional().describe("Skips the step unless this expression is true."),
  forEach: z.string().optional().describe("Runs the step for each item of this list."),
  as: identifier.optional().describe("What expressions call the item. Default: item."),
  concurrency: z
    .int()
    .min(1)
    .max(concurrency)
    .optional()
    .describe("Items processed at once. Default: 1; in a group, all steps."),
  retries: retriesSetting.optional().describe("How a failed call is repeated. Default: not at all."),
  timeoutMs: z.int().min(1).max(longestTimeoutMs).optional().describe("Replaces the function's time limit."),
  onError: z
    .enum(["fail", "continue"])
    .optional()
    .describe("Whether a failure ends the run. With continue, the output is the error. Default: fail."),
});
export type CallStep = z.infer<typeof callStepSchema>;

const NOT_IN_GROUPS = ["forEach", "as", "retries", "timeoutMs"] as const;

/** One step of a tool's workflow (docs/definition-files.md, "A step"): it calls a function, or is a group of steps that do. */
export const workflowStep = z
  .strictObject({
    ...callStepSchema.shape,
    uses: callStepSchema.shape.uses.optional(),
    parallel: z
      .array(callStepSchema)
      .min(1)
      .max(groupSteps)
      .optional()
      .describe("Steps that run side by side, instead of uses and with."),
  })
  .superRefine(
    (step, context) => {
      const report = (message: string, path: string[] = []) =>
        context.addIssue({ code: "custom", message, path });
      if (step.parallel === undefined) {
        if (step.uses === undefined) report("must have uses or parallel");
        return;
      }
      if (step.uses !== undefined) report("is not allowed beside parallel", ["uses"]);
      if (isJsonObject(step.with) && Object.keys(step.with).length > 0)
        report("is not allowed beside parallel", ["with"]);
      for (const key of NOT_IN_GROUPS) {
        if (step[key] !== undefined)
          report("is not allowed beside parallel; set it on the steps inside", [key]);
      }
    },
    // Issues of other fields do not hide these.
    { when: ({ value }) => isJsonObject(value) },
  );
export type WorkflowStep = z.infer<typeof workflowStep>;

/** A tool as people write it: parameters, steps, output expression and output schema. */
export const workflowDefinition = z.strictObject({
  parameters: jsonSchema
    .default({ type: "object", properties: {} })
    .describe("JSON Schema of the input, an object. Default: no properties."),
  steps: z.array(workflowStep).min(1).max(steps).describe("What the tool does, in order."),
  output: anyJson
    .optional()
    .describe("Any JSON whose texts may hold {{ }}. Default: the last step's output."),
  outputSchema: jsonSchema
    .optional()
    .describe("JSON Schema of the output. Default: inferred from the output."),
});
export type WorkflowDefinition = z.infer<typeof workflowDefinition>;
