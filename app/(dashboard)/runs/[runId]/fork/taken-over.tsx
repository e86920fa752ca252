import type { WorkLine } from "../lines";
import type { Workbench } from "../use-workbench";

/** Rows that a fork takes over have the sequence of its start. */
const SEQUENCE_OF_START = 1;

/** Tells that a fork did not execute a step or model call itself. */
export function TakenOver({ line, bench }: { line: WorkLine; bench: Workbench | undefined }) {
  const { sequence } = line.kind === "step" ? line.step : line.call;
  const isForks = bench?.run.id === line.runId && bench.run.fork !== null;
  if (!isForks || sequence !== SEQUENCE_OF_START) return null;
  return <p className="px-4 pb-2 text-muted sm:px-6">Taken over from its origin. It costs nothing here.</p>;
}
