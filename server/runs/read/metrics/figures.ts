import { z } from "zod";
import { Decimal } from "@/server/base/amount";
import { METRICS_DIMENSIONS } from "@/server/contract/enums";

/**
 * Figures of a set of runs without drafts. Durations are ms of ended runs, null without any; credits a decimal. A
 * percentile is the middle of its class of durations, `…AtLeast` its shortest duration.
 */
export type RunFigures = ReturnType<typeof viewFigures>;

/** The figures of one hour, day or bar, with the number of runs in each class of duration. */
export const partRow = z.object({
  bucket: z.number(),
  dimension: z.enum(["all", ...METRICS_DIMENSIONS]),
  subjectId: z.string(),
  runs: z.number(),
  completed: z.number(),
  failed: z.number(),
  cancelled: z.number(),
  open: z.number(),
  tokens: z.coerce.number(),
  credits: z.string(),
  durationClasses: z.string().nullable(),
  durationRuns: z.string().nullable(),
  children: z.number(),
  drafts: z.number(),
  draftCredits: z.string(),
  creditsBelow: z.string(),
  childrenFailed: z.number(),
});
export type Part = z.infer<typeof partRow>;

const COUNTS = ["runs", "completed", "failed", "cancelled", "open", "tokens", "children", "drafts"] as const;

export type Sum = Record<(typeof COUNTS)[number], number> & {
  credits: Decimal;
  creditsBelow: Decimal;
  draftCredits: Decimal;
  durations: Uint32Array;
};

// The longest possible duration, a day and its grace period, is far below.
const MAX_CLASSES = 1_200;

export function emptySum(): Sum {
  const counts = {
    runs: 0,
    completed: 0,
    failed: 0,
    cancelled: 0,
    open: 0,
    tokens: 0,
    children: 0,
    drafts: 0,
  };
  const credits = { credits: new Decimal(0), creditsBelow: new Decimal(0), draftCredits: new Decimal(0) };
  return { ...counts, ...credits, durations: new Uint32Array(MAX_CLASSES) };
}

export function addPart(sum: Sum, part: Part): void {
  for (const field of COUNTS) sum[field] += part[field];
  sum.credits = sum.credits.plus(part.credits);
  sum.creditsBelow = sum.creditsBelow.plus(part.creditsBelow);
  sum.draftCredits = sum.draftCredits.plus(part.draftCredits);
  const { durationClasses, durationRuns } = part;
  if (durationClasses !== null && durationRuns !== null)
    addDurations(sum.durations, durationClasses, durationRuns);
}

// `>=` is false for a comma, and for NaN, the code after the end of a text.
const DIGIT_ZERO = 48;

// Parsed digit by digit: 90 days of a large organization are millions of numbers, too many for `split` and
// `Number`.
function addDurations(durations: Uint32Array, classes: string, runs: string): void {
  let classAt = 0;
  let runsAt = 0;
  while (classAt < classes.length) {
    let index = 0;
    for (let code = classes.charCodeAt(classAt++); code >= DIGIT_ZERO; code = classes.charCodeAt(classAt++)) {
      index = index * 10 + code - DIGIT_ZERO;
    }
    let count = 0;
    for (let code = runs.charCodeAt(runsAt++); code >= DIGIT_ZERO; code = runs.charCodeAt(runsAt++)) {
      count = count * 10 + code - DIGIT_ZERO;
    }
    index = Math.min(index, MAX_CLASSES - 1);
    durations[index] = (durations[index] ?? 0) + count;
  }
}

export function viewFigures(sum = emptySum()) {
  const { durations, credits, creditsBelow, draftCredits, ...counts } = sum;
  const [half, most] = [percentileClass(durations, 0.5), percentileClass(durations, 0.95)];
  return {
    ...counts,
    credits: credits.toFixed(4),
    creditsWithChildren: credits.plus(creditsBelow).toFixed(4),
    draftCredits: draftCredits.toFixed(4),
    p50: middleOf(half),
    p95: middleOf(most),
    p50AtLeast: shortestOf(half),
    p95AtLeast: shortestOf(most),
  };
}

/** See run_duration_class. Null without durations. */
function percentileClass(durations: Uint32Array, share: number): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let below = 0;
  return durations.findIndex((count) => {
    below += count;
    return below >= total * share;
  });
}

function middleOf(durationClass: number | null): number | null {
  return durationClass === null ? null : Math.round(1.02 ** Math.max(0, durationClass - 0.5));
}

/** In integer ms. Each class begins above the end of the previous one, the first with 0. */
function shortestOf(durationClass: number | null): number | null {
  if (durationClass === null) return null;
  return durationClass === 0 ? 0 : Math.floor(1.02 ** (durationClass - 1)) + 1;
}
