import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { isJsonObject, type Json, type JsonObject, readJson } from "@/server/base/json/json";
import { MIB } from "@/server/contract/sizes";
import type { Services } from "@/server/runs/services";
import { type ToolConfiguration, toolConfiguration } from "@/server/work/agent/definition";

/** Larger outputs are not read. */
const MAX_OUTPUT_BYTES = MIB / 4;
// Pages load them, and a try's configuration holds them.
const MAX_OUTPUTS_BYTES = 4 * MIB;
const MAX_CALLS = 1_000;

const READ_OUTPUTS = defineQuery(
  "read-step-outputs",
  z.object({ key: z.string(), output: z.string().nullable() }),
  `SELECT key, CASE WHEN bytes <= $3 AND sum(bytes) FILTER (WHERE bytes <= $3) OVER (ORDER BY step_number) <= $5
     THEN output END AS output
   FROM (SELECT key, step_number, output, CASE WHEN status = 'Completed' THEN octet_length(output) END AS bytes
     FROM steps WHERE run_id = $1 AND organization_id = $2 AND status <> 'Skipped'
     ORDER BY step_number LIMIT $4) calls
   ORDER BY step_number`,
);

export type Outputs = ReadonlyMap<string, Json>;

export type ToolRun = Calls & {
  id: string;
  organizationId: string;
  configuration: ToolConfiguration;
  /** JSON text. */
  input: string;
  /** The values of `run` in expressions. */
  facts: { id: string; startedAt: string; tool: string };
};

/**
 * The outputs of a tool run's steps as later steps read them, by id, without failed and too large ones. Throws
 * `not_found`.
 */
export async function readStepOutputs(
  services: Pick<Services, "db" | "pool">,
  actor: MemberActor,
  { runId }: { runId: string },
): Promise<Outputs> {
  const run = await readToolRun(services, actor, runId);
  return run === null ? new Map() : outputsOf(run.configuration, run);
}

/** Null: a run of an agent. */
export async function readToolRun(
  services: Pick<Services, "db" | "pool">,
  actor: MemberActor,
  runId: string,
): Promise<ToolRun | null> {
  const run = await services.db.run.findFirst({
    where: { id: runId, organizationId: actor.orgId },
    select: {
      kind: true,
      status: true,
      input: true,
      createdAt: true,
      startedAt: true,
      configuration: { select: { document: true } },
    },
  });
  if (!run) throw new AppError("not_found", `There is no run ${runId} in this organization.`);
  if (run.kind !== "tool") return null;
  const rows = await READ_OUTPUTS(services.pool, [
    runId,
    actor.orgId,
    MAX_OUTPUT_BYTES,
    MAX_CALLS,
    MAX_OUTPUTS_BYTES,
  ]);
  const configuration = toolConfiguration.parse(readJson(run.configuration.document));
  const startedAt = (run.startedAt ?? run.createdAt).toISOString();
  return {
    id: runId,
    organizationId: actor.orgId,
    configuration,
    input: run.input,
    facts: { id: runId, startedAt, tool: configuration.name },
    calls: rows,
    isCompleted: run.status === "Completed",
  };
}

type Calls = { calls: readonly { key: string; output: string | null }[]; isCompleted: boolean };

/** `calls`: the run's calls by their keys; without output if they failed, are too large or still run. */
export function outputsOf(
  { definition: { steps }, pinned = {} }: ToolConfiguration,
  { calls, isCompleted }: Calls,
): Outputs {
  const byKey = new Map(calls.map(({ key, output }) => [key, output]));
  const stepOf = (key: string) => key.replace(/\[\d+\]$/, "");
  const called = new Set(calls.map(({ key }) => stepOf(key)));
  const isCalled = (ids: readonly string[]) => ids.some((id) => called.has(id));
  const idsOf = ({ id, parallel }: (typeof steps)[number]) => parallel?.map((inner) => inner.id) ?? [id];
  const found = new Map<string, Json>();
  const put = (id: string, output: Json | undefined) => {
    if (output !== undefined) found.set(id, output);
    return output;
  };
  // `isOver`: one without calls was skipped or had no items.
  const outputOf = ({ id, forEach }: { id: string; forEach?: string | undefined }, isOver: boolean) => {
    if (!called.has(id)) return isOver ? (forEach === undefined ? null : []) : undefined;
    if (forEach === undefined) return read(byKey.get(id));
    const count = calls.filter(({ key }) => key !== id && stepOf(key) === id).length;
    const items = Array.from({ length: count }, (_, index) => read(byKey.get(`${id}[${index}]`)));
    return isOver && items.every((item) => item !== undefined) ? items : undefined;
  };
  for (const [index, step] of steps.entries()) {
    const isOver = isCompleted || steps.slice(index + 1).some((later) => isCalled(idsOf(later)));
    if (Object.hasOwn(pinned, step.id)) {
      const output = put(step.id, pinned[step.id]);
      for (const { id } of step.parallel ?? []) put(id, isJsonObject(output) ? output[id] : undefined);
    } else if (step.parallel === undefined) {
      put(step.id, outputOf(step, isOver));
    } else {
      const members = step.parallel.map(
        (inner) => [inner.id, put(inner.id, outputOf(inner, isOver))] as const,
      );
      const known = members.flatMap(([id, output]) => (output === undefined ? [] : [[id, output] as const]));
      const group: JsonObject = Object.fromEntries(known);
      if (known.length === members.length) put(step.id, isCalled(idsOf(step)) ? group : null);
    }
  }
  return found;
}

const read = (text: string | null | undefined): Json | undefined =>
  text === null || text === undefined ? undefined : readJson(text);
