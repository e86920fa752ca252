import { z } from "zod";
import { anyJson } from "@/server/base/json/any-json";
import { isJsonObject, type JsonObject } from "@/server/base/json/json";
import { defineFunction } from "@/server/work/functions/core/define";

/** The greatest depth of runs that call each other: a root run is at depth 1. */
export const MAX_RUN_DEPTH = 5;
/** Runs that one root run may start by itself and by the runs it calls. */
export const MAX_CALLED_RUNS = 1_000;

export const CALLED_RUN = {
  errors: {
    invalid_arguments: "The input does not match the parameters of the tool.",
    run_failed: "The run that was started failed or was cancelled.",
    too_deep: `Runs call each other more than ${MAX_RUN_DEPTH} deep.`,
    too_many_runs: `The run and those that it called have started ${MAX_CALLED_RUNS.toLocaleString("en-US")} runs.`,
  },
  limits: ["the deadline and maxCredits of the called tool or agent"],
} as const;

/** Runs a tool as a child run; the engine does it (server/runs/engine/execute/calls/call-run.ts). */
export const runTool = defineFunction({
  name: "run_tool",
  title: "Run tool",
  description:
    "Runs a tool of the organization in a child run and returns its output. The child run uses the slot and the " +
    "credits of the calling run, and is cancelled with it.",
  input: z.object({
    tool: z.string().min(1).max(64).describe("The slug of the tool."),
    input: z
      .custom<JsonObject>(isJsonObject, "must be an object")
      .optional()
      .describe("The tool's input. Default: {}."),
  }),
  output: anyJson.describe("The tool's output."),
  errors: { unknown_tool: "The organization has no tool with that slug.", ...CALLED_RUN.errors },
  limits: CALLED_RUN.limits,
  hasSideEffects: true,
  timeoutMs: 86_400_000,
  example: {
    input: { tool: "quote", input: { item: "lamp", quantity: 2, unitPrice: 20 } },
    output: { total: 40 },
  },
  run: { engine: "tool" },
});
