import { KIB } from "@/server/limits/sizes";

/** The limits of tools' workflows. docs/definition-files.md lists them; limits.test.ts compares. */
export const WORKFLOW_LIMITS = {
  /** Steps of a tool, those of its groups included. */
  steps: 100,
  /** Steps of one `parallel` group. */
  groupSteps: 20,
  /** Items of one `forEach`. */
  items: 1_000,
  /** Calls of one step or group in progress at once. */
  concurrency: 20,
  /** Further attempts of one call. */
  retries: 10,
  longestRetryWaitMs: 300_000,
  longestTimeoutMs: 86_400_000,
  /** Of a definition's JSON. */
  definitionBytes: 512 * KIB,
  /** Problems that are listed when a definition is saved. */
  problems: 50,
} as const;
