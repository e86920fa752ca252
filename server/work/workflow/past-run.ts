import { z } from "zod";

/**
 * A run that a fork continues: expressions of the steps before `until` see its id and start. Null: all steps and the
 * output do.
 */
export const pastRun = z.object({ until: z.string().nullable(), id: z.string(), startedAt: z.string() });
export type PastRun = z.infer<typeof pastRun>;
