import type { Database } from "./database";
import { STEPS } from "./work";

type Run = {
  id: string;
  kind: string;
  status: string;
  code: string | null;
  message: string | null;
  credits: string;
  isChild: boolean;
  isAnswered: boolean;
  yielded: number;
};
type Step = { runId: string; key: string; status: string; child: string | null; finishedAt: Date | null };

/** To compare steps with faults. */
export const timeOfDay = (ms = Date.now()) => new Date(ms).toISOString().slice(11, 23);

type Happened = {
  runIds: string[];
  counts: number[];
  executions: Map<string, number[]>;
  told: ReadonlySet<string>;
};

/**
 * Counts what was lost, repeated, charged wrongly or stuck; returns true if nothing was. `counts`: the runs of each
 * organization, half of them agents'.
 */
export async function report(
  { query }: Pick<Database, "query">,
  { runIds, counts, executions, told }: Happened,
): Promise<boolean> {
  const runs = await query<Run>(
    `SELECT id, kind, status, error_code AS code, error_message AS message, credits_used::text AS credits,
            parent_run_id IS NOT NULL AS "isChild", id = ANY($1::uuid[]) AS "isAnswered", cardinality(yielded_at) AS yielded
     FROM runs`,
    [runIds],
  );
  const steps = await query<Step>(
    `SELECT run_id AS "runId", key, status, child_run_id AS child, finished_at AS "finishedAt" FROM steps ORDER BY run_id, step_number`,
  );
  const roots = runs.filter(({ isChild }) => !isChild);
  const agents = counts.reduce((sum, count) => sum + Math.ceil(count / 2), 0);
  const tools = runIds.length - agents;
  const failed = runs.filter(({ status }) => status === "Failed" || status === "Cancelled");

  const called = steps.filter((step) => step.child === null);
  const timesOf = ({ runId, key }: Step) => executions.get(`${runId}:${key}`) ?? [];
  // All clocks are one machine's, and a step's `finished_at` is after its execution.
  const late = called.flatMap((step) => {
    const end = step.finishedAt?.getTime() ?? Number.POSITIVE_INFINITY;
    return timesOf(step).flatMap((time) => (time > end ? { ...step, lateMs: time - end } : []));
  });
  const executed = called.map((step) => timesOf(step).length);
  /** Equal work costs the same, however often it was interrupted. */
  const prices = new Set(
    roots.filter(({ status }) => status === "Completed").map(({ kind, credits }) => `${kind} ${credits}`),
  );
  const [ledger] = await query<Record<string, number>>(
    `WITH entries AS (
       SELECT *, lag(balance_after) OVER w AS previous, sequence - lag(sequence) OVER w AS distance
       FROM credit_entries WINDOW w AS (PARTITION BY organization_id ORDER BY sequence))
     SELECT (SELECT count(*) FROM organizations o WHERE balance <> (SELECT sum(amount) FROM entries WHERE organization_id = o.id)
               OR ledger_sequence <> (SELECT max(sequence) FROM entries WHERE organization_id = o.id))::int AS "organizations with ledger drift",
            (SELECT count(*) FROM entries WHERE balance_before + amount <> balance_after OR balance_before <> previous OR distance <> 1)::int AS "gaps in ledgers",
            (SELECT count(*) FROM runs r WHERE credits_used <> coalesce(
               (SELECT -sum(amount) FROM entries WHERE run_id = r.id AND kind IN ('charge', 'refund')), 0))::int AS "runs charged wrongly",
            (SELECT count(*) FROM (SELECT FROM entries WHERE kind = 'charge' GROUP BY run_id HAVING count(*) > 1) q)::int AS "runs charged twice",
            (SELECT count(*) FROM runs WHERE held <> 0)::int AS "runs that still hold credits",
            (SELECT coalesce(sum(in_flight), 0) FROM organizations)::int AS "slots still counted",
            (SELECT count(*) FROM run_index_queue)::int AS "ended runs not indexed"`,
  );
  const violations = {
    "accepted runs lost": runIds.length - roots.filter(({ isAnswered }) => isAnswered).length,
    "runs without a response": roots.filter(({ isAnswered }) => !isAnswered).length,
    "runs stuck": runs.filter(({ status }) => status === "Pending" || status === "Running").length,
    "runs failed or cancelled": failed.length,
    "steps missing": agents * (STEPS.agent + STEPS.tool) + tools * STEPS.tool - steps.length,
    "steps not finished": steps.filter(({ status }) => status !== "Completed" && status !== "Skipped").length,
    "steps without their effect": executed.filter((times) => times === 0).length,
    "finished steps repeated": late.length,
    "ends without a callback": roots.filter(({ id }) => !told.has(id)).length,
    "different prices for equal runs": prices.size - 2,
    ...ledger,
  };
  const figures = {
    "runs completed": `${runs.length - failed.length} (${roots.length} started, ${runs.length - roots.length} called by others)`,
    "steps executed": executed.length,
    "steps repeated before they finished": executed.reduce((sum, times) => sum + Math.max(0, times - 1), 0),
    "runs that yielded their slot": runs.filter(({ yielded }) => yielded > 0).length,
  };
  for (const [name, value] of Object.entries({ ...figures, ...violations }))
    console.log(`${name.padEnd(36)} ${value}`);
  for (const { id, status, code, message } of failed)
    console.log(`  run ${id} ${status} ${code}: ${message}`);
  for (const { lateMs, ...step } of late) {
    const times = timesOf(step).map(timeOfDay).join(", ");
    console.log(
      `  step ${step.runId}:${step.key} again ${lateMs} ms after it had finished; executed at ${times}`,
    );
  }
  const sound = Object.values(violations).every((value) => value === 0);
  console.log(sound ? "Nothing was lost, repeated or stuck." : "A guarantee was violated.");
  return sound;
}
