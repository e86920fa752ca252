import { z } from "zod";

/**
 * Suspects are runs whose workers crashed, perhaps for lack of memory. Isolated processes execute them one at a
 * time (serve/isolation.ts), so that other runs go on.
 */

/** From this number of crashes on a run is a suspect; the migrations have the same number. */
export const SUSPECT_CRASHES = 2;

export type RunQueue = "all" | "ordinary" | "suspects";

export function isOfSuspects(queue: RunQueue): boolean | null {
  return queue === "all" ? null : queue === "suspects";
}

/** A run that an isolated process begins to execute, and its worker. */
export const suspect = z.object({ run: z.string(), worker: z.string() });
export type Suspect = z.output<typeof suspect>;
