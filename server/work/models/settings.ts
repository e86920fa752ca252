import { z } from "zod";

/** Settings of a model call. Each is sent if it is set. A provider's adaptation leaves out what its model refuses. */
export const modelSettings = z.object({
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe("How much answers vary, 0 to 2. Default: the model's."),
});
export type ModelSettings = z.infer<typeof modelSettings>;
