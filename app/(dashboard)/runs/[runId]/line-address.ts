import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import type { StepLine } from "@/server/runs/read/inspect/lines";
import { hasFailed, isWork, type Line, startsFolded } from "./lines";

const NAMES = { step: "step", call: "model call", wait: "wait", group: "items of" };
const KINDS = ["step", "call", "wait", "group"] as const;
const KEYS = [...KINDS, "attempt"] as const;

type LineAddress = { [key in (typeof KEYS)[number]]?: string | undefined };

export function readLineAddress(query: URLSearchParams): LineAddress {
  return Object.fromEntries(KEYS.map((key) => [key, query.get(key) ?? undefined]));
}

export function writeLineAddress(query: URLSearchParams, line: Line | null): void {
  for (const key of KEYS) query.delete(key);
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
  return KEYS.every((key) => own[key] === address[key]);
}

/** The line that the page's URL names: `step 3`, `attempt 2 of step 1`; null for nothing. */
export function describeAddress(address: LineAddress): string | null {
  const kind = KINDS.find((each) => address[each] !== undefined);
  if (kind === undefined) return null;
  const line = `${NAMES[kind]} ${address[kind]}`;
  return address.attempt === undefined ? line : `attempt ${address.attempt} of ${line}`;
}

/** The child run to expand so that the line in the URL exists. */
export function runToUnfold({ step, call, group }: LineAddress, steps: StepLine[]): string | null {
  const number = /^(\d+)\./.exec(step ?? call ?? group ?? "")?.[1];
  return steps.find((each) => String(each.number) === number)?.childRunId ?? null;
}

/** The slug of the line to expand so that the attempt in the URL exists. */
export function attemptsToUnfold({ step, call, attempt }: LineAddress): string | null {
  return attempt === undefined ? null : (step ?? call ?? null);
}

/** The line in the URL, or else the failure of a failed run, the newest line of a live or cancelled one, or the first step. */
export function chooseLine<Each extends Line>(
  lines: Each[],
  address: LineAddress,
  run: Pick<RunDetail, "id" | "status">,
): Each | null {
  const named = lines.find((line) => isNamed(line, address));
  if (named) return named;
  const own = lines.filter((line) => line.runId === run.id && line.kind !== "attempt");
  if (run.status === "Failed") {
    const failed = own.findLast((line) => isWork(line) && hasFailed(line));
    if (failed) return failed;
  }
  if (run.status === "Running" || run.status === "Cancelled") return own.at(-1) ?? null;
  return own.find((line) => line.kind === "step" || startsFolded(line)) ?? own.find(isWork) ?? own[0] ?? null;
}
