import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import type { StepLine } from "@/server/runs/read/inspect/lines";
import { isAtFault, isWork, type Line, opensFolded } from "./lines";

/** The line in the page's URL. */
export type LineAddress = { [key in (typeof ADDRESS_KEYS)[number]]?: string | undefined };
const ADDRESS_KEYS = ["step", "call", "wait", "group", "attempt"] as const;

export function readAddress(query: URLSearchParams): LineAddress {
  return Object.fromEntries(ADDRESS_KEYS.map((key) => [key, query.get(key) ?? undefined]));
}

export function writeAddress(query: URLSearchParams, line: Line | null): void {
  for (const key of ADDRESS_KEYS) query.delete(key);
  if (line === null) return;
  for (const [key, value] of Object.entries(addressOf(line))) query.set(key, value);
}

function addressOf(line: Line): Record<string, string> {
  return line.kind === "attempt"
    ? { ...addressOf(line.of), attempt: String(line.attempt.number) }
    : { [line.kind]: line.slug };
}

export function isNamed(line: Line, address: LineAddress): boolean {
  const own = addressOf(line);
  return ADDRESS_KEYS.every((key) => own[key] === address[key]);
}

/** What the page's URL names: `step 3`, `attempt 2 of step 1`; null for nothing. */
export function describeAddress({ step, call, wait, group, attempt }: LineAddress): string | null {
  const line =
    step !== undefined
      ? `step ${step}`
      : call !== undefined
        ? `model call ${call}`
        : wait !== undefined
          ? `wait ${wait}`
          : group !== undefined
            ? `items of ${group}`
            : null;
  return line !== null && attempt !== undefined ? `attempt ${attempt} of ${line}` : line;
}

/** The child run to expand so that the line in the URL exists. */
export function runToUnfold({ step, call }: LineAddress, steps: StepLine[]): string | null {
  const number = /^(\d+)\./.exec(step ?? call ?? "")?.[1];
  return steps.find((each) => String(each.number) === number)?.childRunId ?? null;
}

/** The slug of the line to expand so that the attempt in the URL exists. */
export function attemptsToUnfold({ step, call, attempt }: LineAddress): string | null {
  return attempt === undefined ? null : (step ?? call ?? null);
}

/** The line in the URL, or else the failure of a failed run, the newest line of a live run, or the first step. */
export function chooseLine(
  lines: Line[],
  address: LineAddress,
  run: Pick<RunDetail, "id" | "status">,
): Line | null {
  const named = lines.find((line) => isNamed(line, address));
  if (named) return named;
  const own = lines.filter((line) => line.runId === run.id && line.kind !== "attempt");
  if (run.status === "Failed") {
    const failed = own.findLast((line) => isWork(line) && isAtFault(line));
    if (failed) return failed;
  }
  if (run.status === "Running") return own.at(-1) ?? null;
  return own.find((line) => line.kind === "step" || opensFolded(line)) ?? own.find(isWork) ?? own[0] ?? null;
}
