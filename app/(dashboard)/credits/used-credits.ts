import type { RunFigures } from "@/server/runs/read/metrics/figures";

export type UsedCredits = Pick<RunFigures, "credits" | "draftCredits">;

/** The credits of all runs, also those of drafts, which other figures leave out. For charts and averages, not for sums. */
export const usedCredits = ({ credits, draftCredits }: UsedCredits) => Number(credits) + Number(draftCredits);
