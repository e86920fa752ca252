import { z } from "zod";
import { anyJson } from "@/server/base/json/any-json";
import { MAX_USER_MESSAGE_BYTES } from "@/server/contract/sizes";
import { defineFunction } from "@/server/work/functions/core/define";
import { CALLED_RUN } from "@/server/work/functions/run-tool";

const { invalid_arguments: _, ...errors } = CALLED_RUN.errors;

/** Runs an agent as a child run; the engine does it (server/runs/engine/execute/calls/call-run.ts). */
export const runAgent = defineFunction({
  name: "run_agent",
  title: "Run agent",
  description:
    "Gives a message to an agent of the organization in a child run and returns the answer. The child run uses the " +
    "slot and the credits of the calling run, and is cancelled with it.",
  input: z.object({
    agent: z.string().min(1).max(64).describe("The slug of the agent."),
    message: z
      .string()
      .min(1)
      .max(MAX_USER_MESSAGE_BYTES)
      .describe("What the agent is to do, with all the information it needs."),
  }),
  output: z.object({
    output: anyJson.describe("The agent's answer: a text, or the value if it has an output schema."),
  }),
  errors: {
    unknown_agent: "The organization has no agent with that slug.",
    agent_inactive: "The agent is inactive.",
    ...errors,
  },
  limits: CALLED_RUN.limits,
  hasSideEffects: true,
  timeoutMs: 86_400_000,
  example: {
    input: { agent: "researcher", message: "How many lamps are in stock?" },
    output: { output: "Four lamps are in stock." },
  },
  run: { engine: "agent" },
});
