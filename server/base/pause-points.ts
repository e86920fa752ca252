/** Tests pause a run at these points, and the chaos command (tools/chaos) kills its processes. */

const FLUSH = ["before", "sent", "answered"] as const;

export const PAUSE_POINTS = [
  ...FLUSH.map((moment) => `accounts:${moment}` as const),
  ...FLUSH.map((moment) => `journal:${moment}` as const),
  /** Waiting runs were claimed, none is executed yet. */
  "claim:after",
  /** Before a model call, a round of calls or a child run. */
  "act:before",
  /** Its row is not written yet. */
  "act:after",
  "end:before",
  "yield:before",
  /** A schedule's tick is written, its run is not started. */
  "tick:before",
  /** The run is started, the tick does not name it yet. */
  "tick:after",
  /** Events are committed, their deliveries are not created yet. */
  "callback:before",
  /** Deliveries are created, none is claimed. */
  "callback:expanded",
  /** The receiver has answered, its answer is not recorded yet. */
  "callback:sent",
] as const;
export type PausePoint = (typeof PAUSE_POINTS)[number];

type PauseHandler = (point: PausePoint) => Promise<void> | undefined;

let handler: PauseHandler | null = null;

/** Installs the handler of this process; null removes it. */
export function onPausePoint(installed: PauseHandler | null): void {
  handler = installed;
}

/** Call it at a point: `await pauseAt("end:before")`. */
export function pauseAt(point: PausePoint): Promise<void> | undefined {
  return handler === null ? undefined : handler(point);
}

export function killAtPausePoints(probabilities: ReadonlyMap<PausePoint, number>): void {
  if (probabilities.size === 0) return;
  onPausePoint((point) => {
    if (Math.random() < (probabilities.get(point) ?? 0)) process.kill(process.pid, "SIGKILL");
    return undefined;
  });
}
