import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import { newId } from "@/server/base/ids";
import { writeJson } from "@/server/base/json/json";
import { toolCallList } from "@/server/runs/attempts";
import { openCallState, sealCallState } from "@/server/runs/engine/call-state";
import type { Services } from "@/server/runs/services";
import { limitCalls } from "@/server/work/models/port";
import type { ForkPlan } from "./plan-fork";

const READ_STATES = defineQuery(
  "read-fork-states",
  z.object({ key: z.string(), state: z.instanceof(Buffer).nullable(), toolCalls: z.string().nullable() }),
  `SELECT key, state_sealed AS state, CASE WHEN key = $4 THEN tool_calls END AS "toolCalls"
   FROM model_calls WHERE run_id = $1 AND organization_id = $2 AND key = ANY ($3::text[])
     AND (state_sealed IS NOT NULL OR key = $4)`,
);

/** Describes the rows that a fork's start takes over, as JSON for `take_over_rows`, which copies them. */
export async function describeTakeOver(
  services: Services,
  { orgId, runId }: { orgId: OrgId; runId: string },
  plan: ForkPlan,
): Promise<string> {
  const { origin, cut, request, output } = plan;
  const { named } = cut;
  const replaced = request.changes.input === undefined ? undefined : named;
  const asking = replaced && `think-${replaced.iteration}`;
  const rows =
    cut.calls.length === 0
      ? []
      : await READ_STATES(services.pool, [origin.id, orgId, cut.calls.map(({ key }) => key), asking ?? null]);
  const found = new Map(rows.map((row) => [row.key, row]));
  const keepsPrefix = hasSamePrefix(plan);
  const calls = cut.calls.map(({ key }) => {
    const { state = null, toolCalls = null } = found.get(key) ?? {};
    // The state of a message with other calls does not fit.
    const isKept = keepsPrefix && key !== asking;
    const opened = isKept ? openCallState(services, { run: { id: origin.id, orgId }, key }, state) : null;
    const sealed = sealCallState(services, { run: { id: runId, orgId }, key }, opened);
    return {
      id: newId(),
      key,
      state: sealed === null ? null : `\\x${sealed.toString("hex")}`,
      tool_calls: key === asking && toolCalls !== null ? replaceArguments(toolCalls, plan) : null,
    };
  });
  const steps = cut.steps.map(({ key }) => ({
    id: newId(),
    key,
    output: key === named?.key ? (output ?? null) : null,
  }));
  return JSON.stringify({ run: origin.id, step: cut.step, tools: request.tools, calls, steps });
}

/** The state that a provider gave for itself belongs to the conversation before it. The provider checks its model. */
function hasSamePrefix({ request: { changes } }: ForkPlan): boolean {
  const { systemPrompt, userMessage, model, toolVersion } = changes;
  return [systemPrompt, userMessage, model, toolVersion].every((change) => change === undefined);
}

function replaceArguments(toolCalls: string, { cut, request }: ForkPlan): string {
  const position = Number(cut.named?.key.split("-").at(-1)) - 1;
  const calls = limitCalls(toolCallList.parse(JSON.parse(toolCalls)));
  return JSON.stringify(
    calls.map((call, index) =>
      index === position ? { ...call, arguments: writeJson(request.changes.input) } : call,
    ),
  );
}
