import { Decimal } from "@/server/base/amount";
import { newId } from "@/server/base/ids";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { endClaimedRun } from "@/server/runs/engine/end-run";
import { callChange, newCallRow, newStepRow, stepChange } from "@/server/runs/engine/write/journal-rows";
import { Lane } from "@/server/runs/engine/write/writer";
import { prepareStart } from "@/server/runs/prepare-start";
import { claimedRun, startItem } from "@/server/runs/start-item";
import type { Services } from "@/server/services";
import type { ModelReply } from "@/server/work/models/port";

/** Model calls and steps of each run, as in docs/scale.md. */
export const CALLS = 3;
export const STEPS = 2;

const INPUT = "What do twelve apples at 0.80 cost, and what is left of a note of 20? ".repeat(8);
const TEXT = "The answer is made of a few sentences, as most answers of a model are. ".repeat(6);

const DEFINITIONS = {
  organizations: Array.from({ length: 50 }, (_, n) => ({
    slug: `bench-${n}`,
    plan: { concurrency: 10_000 },
    credits: 1_000_000_000,
    agents: [{ slug: "bench", name: "Bench", model: "bench" }],
  })),
};

/** Common parts of the starts of each organization's agent. */
export async function prepareStarts(services: Services) {
  const applied = await applyDefinitionFile(services, JSON.stringify(DEFINITIONS));
  return Promise.all(
    applied.map(async ({ slug, agents: [agent] }) => {
      const actor = await operatorOf(services, slug, "bench");
      const request = { kind: "agent", targetId: agent?.id ?? "", userMessage: INPUT } as const;
      const prepared = await prepareStart(services, actor, request);
      await services.pool.query("INSERT INTO configurations VALUES ($1, $2, $3, now())", [
        actor.orgId,
        Buffer.from(prepared.hash, "hex"),
        prepared.document,
      ]);
      return { actor, request, prepared, conditions: {} };
    }),
  );
}

type Start = Awaited<ReturnType<typeof prepareStarts>>[number];

/** A worker's writer, as in server/runs/engine/worker.ts without the heartbeat. */
export async function openWriter(services: Services) {
  const workerId = `worker-${newId()}`;
  await services.pool.query(
    `WITH worker AS (INSERT INTO workers (id, heartbeat_at) VALUES ($1, now()) RETURNING id)
     INSERT INTO worker_lanes (worker_id, lane) SELECT id, lane FROM worker, unnest(ARRAY['accounts', 'journal']) AS lane`,
    [workerId],
  );
  const ignore = () => {};
  const listeners = { onStart: ignore, onAdmitted: ignore, onRejected: ignore, onLost: ignore };
  const options = { services, workerId, freeSlots: () => 1_000_000, ...listeners };
  const open = (lane: "accounts" | "journal") => new Lane({ ...options, lane });
  return { accounts: open("accounts"), journal: open("journal") };
}

const USAGE = { inputTokens: 300, outputTokens: 100, estimated: false };
const REPLY: ModelReply = {
  content: TEXT,
  reasoning: "",
  state: null,
  toolCalls: [],
  finishReason: "stop",
  usage: USAGE,
  provider: "bench",
  attempts: [],
};
const CALL_CREDITS = new Decimal("0.07");
const STEP_CREDITS = new Decimal("0.01");
const TOTALS = {
  stepsExecuted: STEPS,
  actionsUsed: STEPS,
  inputTokens: USAGE.inputTokens * CALLS,
  outputTokens: USAGE.outputTokens * CALLS,
  creditsUsed: CALL_CREDITS.mul(CALLS).add(STEP_CREDITS.mul(STEPS)),
};
const STEP = { input: '{"expression":"12*0.8"}', reasoning: "", usage: USAGE, hasSideEffects: false };
const RESULT = { output: '{"result":9.6}', error: null, actions: 1, credits: STEP_CREDITS };

/** Starts a run, writes its rows and ends it. The last model call is committed with its end, as in the journal. */
export async function writeRun(
  services: Services,
  { accounts, journal }: Awaited<ReturnType<typeof openWriter>>,
  start: Start,
): Promise<"ended" | "lost" | "rejected"> {
  const parts = { ...start, runId: newId() };
  const limit = { rate_key: `starts:${start.actor.orgId}`, rate_limit: 1_000_000_000, rate_seconds: 60 };
  const { verdict, at } = await accounts.start({ ...startItem(parts), ...limit });
  if (verdict !== "run" && verdict !== "run+") return "rejected";
  const { hold, headroom } = start.prepared;
  const run = claimedRun(services, parts, { at, held: verdict === "run" ? hold : hold.add(headroom) });
  const end = { finished_at: new Date(at.getTime() + 3).toISOString(), duration_ms: 3 };
  const calls = Array.from({ length: CALLS }, (_, n) => {
    const call = { key: `think-${n + 1}`, iteration: n + 1, provider: "bench", model: "bench" };
    const row = newCallRow(run, call, at);
    const change = callChange(row, { reply: REPLY, sealedState: null, credits: CALL_CREDITS });
    return { ...row, ...change, ...end, sequence: n * 2 + 2 };
  });
  const steps = Array.from({ length: STEPS }, (_, n) => {
    const step = { key: `call-${n + 1}-1`, stepNumber: n + 1, iteration: n + 1, toolName: "calculate" };
    const row = newStepRow(run, { ...step, ...STEP }, at);
    return { ...row, ...stepChange(RESULT), ...end, sequence: n * 2 + 3 };
  });
  await Promise.all([...calls.slice(0, -1), ...steps].map((row) => journal.row(row)));
  const outcome = { status: "Completed", output: TEXT } as const;
  const last = { outcome, totals: TOTALS, sequence: CALLS + STEPS + 2, rows: calls.slice(-1) };
  return (await endClaimedRun({ accounts }, run, last)) ? "ended" : "lost";
}
