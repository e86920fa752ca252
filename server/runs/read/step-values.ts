import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import { readJson } from "@/server/base/json/json";
import type { Services } from "@/server/runs/services";
import { parseCondition, readPaths } from "@/server/work/workflow/expressions";
import { createSkipNote, type SkipNote, skipNote } from "@/server/work/workflow/skip-note";
import { type Outputs, outputsOf, readToolRun, type ToolRun } from "./step-outputs";

/** The value of a step's `if` in a run. `expression`: as the definition has it. */
export type StepCondition = {
  id: string;
  expression: string;
  isMet: boolean;
  value: string | null;
  read: SkipNote["read"];
};

const READ_SKIPPED = defineQuery(
  "read-skipped-steps",
  z.object({ key: z.string(), note: z.string() }),
  "SELECT key, input AS note FROM steps WHERE run_id = $1 AND organization_id = $2 AND status = 'Skipped'",
);

/**
 * The outputs of a tool run's steps (`readStepOutputs`), and the conditions that it evaluated, in the order of its
 * steps. Throws `not_found`.
 */
export async function readStepValues(
  services: Pick<Services, "db" | "pool">,
  actor: MemberActor,
  { runId }: { runId: string },
): Promise<{ outputs: Outputs; conditions: StepCondition[] }> {
  const run = await readToolRun(services, actor, runId);
  if (run === null) return { outputs: new Map(), conditions: [] };
  const outputs = outputsOf(run.configuration, run);
  return { outputs, conditions: await readConditions(services, run, outputs) };
}

async function readConditions(
  { pool }: Pick<Services, "pool">,
  run: ToolRun,
  outputs: Outputs,
): Promise<StepCondition[]> {
  const { definition, pinned = {} } = run.configuration;
  const rows = await READ_SKIPPED(pool, [run.id, run.organizationId]);
  const notes = new Map(rows.map(({ key, note }) => [key, skipNote.parse(readJson(note))]));
  const evaluated = new Set([...notes.keys(), ...run.calls.map(({ key }) => key.replace(/\[\d+\]$/, ""))]);
  const readOf = async (expression: string) => {
    const parsed = await parseCondition(expression, run.organizationId);
    const isUnknown = ({ root, member }: (typeof parsed.references)[number]) =>
      root === "steps" && (member === null || !outputs.has(member));
    if (parsed.references.some(isUnknown)) return [];
    const values = { input: readJson(run.input), run: run.facts };
    const read = await readPaths({ values, steps: Object.fromEntries(outputs) }, parsed, undefined);
    return createSkipNote("if", expression, { value: true, read }).read;
  };
  const conditions: StepCondition[] = [];
  for (const { parallel = [], ...step } of definition.steps) {
    if (Object.hasOwn(pinned, step.id)) continue;
    for (const { id, if: expression } of [step, ...parallel]) {
      if (expression === undefined) continue;
      const note = notes.get(id);
      const ids = id === step.id ? [id, ...parallel.map((inner) => inner.id)] : [id];
      if (note?.by === "if")
        conditions.push({ id, expression, isMet: false, value: note.value, read: note.read });
      else if (ids.some((each) => evaluated.has(each)))
        conditions.push({ id, expression, isMet: true, value: "true", read: await readOf(expression) });
    }
  }
  return conditions;
}
