import { STEPS } from "./servers.mjs";

/**
 * Counts what was lost, repeated, charged wrongly or stuck; returns true if nothing was.
 * @param {{ query: (sql: string, parameters?: unknown[]) => Promise<any[]> }} database
 * @param {{ runIds: string[], runs: number, burst: number, executions: Map<string, number[]> }} seen
 * @param {(line: string) => void} print
 */
export async function report({ query }, { runIds, runs: started, burst, executions }, print) {
  const runs = await query(
    `SELECT id, kind, status, error_code, error_message, credits_used::text AS credits, parent_run_id IS NOT NULL AS is_child,
            id = ANY($1::uuid[]) AS answered, cardinality(yielded_at) AS yielded
     FROM runs`,
    [runIds],
  );
  const steps = await query(
    "SELECT run_id, key, status, child_run_id, finished_at FROM steps ORDER BY run_id, step_number",
  );
  const roots = runs.filter((run) => !run.is_child);
  const agents = Math.ceil(started / 2) + Math.ceil(burst / 2);
  const tools = Math.floor(started / 2) + Math.floor(burst / 2);
  const failed = runs.filter(
    (run) => run.status !== "Completed" && run.status !== "Running" && run.status !== "Pending",
  );

  const called = steps.filter((step) => step.child_run_id === null);
  const timesOf = (/** @type {any} */ step) => executions.get(`${step.run_id}:${step.key}`) ?? [];
  // All clocks are one machine's, and a step's `finished_at` is after its execution.
  const late = called.flatMap((step) =>
    timesOf(step)
      .filter((time) => time > step.finished_at?.getTime())
      .map((time) => ({ step, time })),
  );
  const executed = called.map((step) => timesOf(step).length);
  /** Equal work costs the same, however often it was interrupted. */
  const prices = new Set(
    roots.filter(({ status }) => status === "Completed").map(({ kind, credits }) => `${kind} ${credits}`),
  );
  const [ledger] = await query(
    `WITH entries AS (
       SELECT *, lag(balance_after) OVER w AS previous, sequence - lag(sequence) OVER w AS distance
       FROM credit_entries WINDOW w AS (PARTITION BY organization_id ORDER BY sequence))
     SELECT (SELECT count(*) FROM organizations o WHERE balance <> (SELECT sum(amount) FROM entries WHERE organization_id = o.id)
               OR ledger_sequence <> (SELECT max(sequence) FROM entries WHERE organization_id = o.id))::int AS drift,
            (SELECT count(*) FROM entries WHERE balance_before + amount <> balance_after OR balance_before <> previous OR distance <> 1)::int AS gaps,
            (SELECT count(*) FROM runs r WHERE credits_used <> coalesce(
               (SELECT -sum(amount) FROM entries WHERE run_id = r.id AND kind IN ('charge', 'refund')), 0))::int AS "chargedWrongly",
            (SELECT count(*) FROM (SELECT FROM entries WHERE kind = 'charge' GROUP BY run_id HAVING count(*) > 1) q)::int AS "chargedTwice",
            (SELECT count(*) FROM runs WHERE held <> 0)::int AS held,
            (SELECT coalesce(sum(in_flight), 0) FROM organizations)::int AS "inFlight",
            (SELECT count(*) FROM run_index_queue)::int AS unindexed`,
  );
  /** These counts must be zero. */
  const faults = {
    "accepted runs lost": runIds.length - roots.filter(({ answered }) => answered).length,
    "runs without a response": roots.filter(({ answered }) => !answered).length,
    "runs stuck": runs.filter(({ status }) => status === "Pending" || status === "Running").length,
    "runs failed or cancelled": failed.length,
    "steps missing": agents * (STEPS.agent + STEPS.tool) + tools * STEPS.tool - steps.length,
    "steps not finished": steps.filter(({ status }) => status !== "Completed").length,
    "steps without their effect": executed.filter((times) => times === 0).length,
    "finished steps repeated": late.length,
    "runs charged wrongly": ledger.chargedWrongly,
    "runs charged twice": ledger.chargedTwice,
    "different prices for equal runs": prices.size - 2,
    "organizations with ledger drift": ledger.drift,
    "gaps in ledgers": ledger.gaps,
    "runs that still hold credits": ledger.held,
    "slots still counted": ledger.inFlight,
    "ended runs not indexed": ledger.unindexed,
  };
  const figures = {
    "runs completed": `${runs.length - failed.length} (${roots.length} started, ${runs.length - roots.length} called by others)`,
    "steps executed": executed.length,
    "steps repeated before they finished": executed.reduce((sum, times) => sum + Math.max(0, times - 1), 0),
    "runs that yielded their slot": runs.filter(({ yielded }) => yielded > 0).length,
  };
  for (const [name, value] of Object.entries({ ...figures, ...faults })) print(`${name.padEnd(36)} ${value}`);
  for (const { id, status, error_code: code, error_message: message } of failed)
    print(`  run ${id} ${status} ${code}: ${message}`);
  for (const { step, time } of late)
    print(
      `  step ${step.run_id}:${step.key} again ${time - step.finished_at.getTime()} ms after it had finished`,
    );
  const sound = Object.values(faults).every((value) => value === 0);
  print(sound ? "Nothing was lost, repeated or stuck." : "A guarantee was violated.");
  return sound;
}
