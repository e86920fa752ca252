import type { MemberActor } from "@/server/base/actor";
import { Prisma } from "@/server/base/db/generated/client";
import { select } from "@/server/base/db/statement";
import type { Services } from "@/server/runs/services";
import { CALL_COLUMNS, STEP_COLUMNS } from "./inspect/lines";
import { cutRows, rowSize } from "./pieces";

const RUN_OF_FILE = {
  id: true,
  kind: true,
  agentId: true,
  toolId: true,
  targetName: true,
  targetVersion: true,
  model: true,
  configurationHash: true,
  status: true,
  source: true,
  triggerId: true,
  scheduleId: true,
  apiKeyId: true,
  userId: true,
  metadata: true,
  parentRunId: true,
  rootRunId: true,
  forkedFrom: true,
  forkStep: true,
  forkMode: true,
  input: true,
  output: true,
  errorCode: true,
  errorMessage: true,
  stepsExecuted: true,
  inputTokens: true,
  outputTokens: true,
  actionsUsed: true,
  creditsUsed: true,
  maxCredits: true,
  maxCreditsOf: true,
  createdAt: true,
  admittedAt: true,
  startedAt: true,
  finishedAt: true,
  yieldedAt: true,
  resumedAt: true,
  wakeAt: true,
  deadlineSeconds: true,
  cancelRequestedAt: true,
  cancelledBy: true,
  sequence: true,
} satisfies Prisma.RunSelect;

const STEP_OF_FILE = {
  ...STEP_COLUMNS,
  input: true,
  output: true,
  reasoning: true,
  inputTokens: true,
  outputTokens: true,
  actions: true,
} satisfies Prisma.StepSelect;

const CALL_OF_FILE = {
  ...CALL_COLUMNS,
  content: true,
  reasoning: true,
  finishReason: true,
  errorMessage: true,
} satisfies Prisma.ModelCallSelect;

type Opening = { services: Pick<Services, "db" | "pool">; actor: MemberActor; runId: string };

/** `bytes`: the most that is in memory at a time. */
export type RunFile = { bytes: number; pieces: AsyncGenerator<string> };

/**
 * A run as a JSON file: the row, its steps and its model calls, with complete texts and decimals as strings. Null if
 * unknown. Only sizes are read before the first piece is.
 */
export async function openRunFile(
  services: Pick<Services, "db" | "pool">,
  actor: MemberActor,
  runId: string,
): Promise<RunFile | null> {
  const opening = { services, actor, runId };
  const [run] = await readSizes(
    services,
    Prisma.sql`
    SELECT id, octet_length(input) + coalesce(octet_length(output), 0) AS bytes
    FROM runs WHERE organization_id = ${actor.orgId}::uuid AND id = ${runId}::uuid`,
  );
  if (run === undefined) return null;
  const steps = await readSizes(
    services,
    Prisma.sql`
    SELECT id, octet_length(input) + coalesce(octet_length(output), 0) + octet_length(reasoning)
      + octet_length(attempts) AS bytes
    FROM steps WHERE organization_id = ${actor.orgId}::uuid AND run_id = ${runId}::uuid ORDER BY step_number`,
  );
  const calls = await readSizes(
    services,
    Prisma.sql`
    SELECT id, octet_length(content) + octet_length(reasoning) + octet_length(tool_calls)
      + octet_length(attempts) AS bytes
    FROM model_calls WHERE organization_id = ${actor.orgId}::uuid AND run_id = ${runId}::uuid ORDER BY id`,
  );
  const cut = { steps: cutRows(steps), calls: cutRows(calls) };
  const largest = [run, ...cut.steps, ...cut.calls].reduce((most, { bytes }) => Math.max(most, bytes), 0);
  const ids = { steps: cut.steps.map((piece) => piece.ids), calls: cut.calls.map((piece) => piece.ids) };
  // One piece is written while the next is read.
  return { bytes: 2 * largest, pieces: writeRun(opening, ids) };
}

const readSizes = ({ pool }: Pick<Services, "pool">, statement: Prisma.Sql) =>
  select(pool, rowSize, statement);

/** The text that `JSON.stringify` gives for the whole run, with an indent of two spaces. */
async function* writeRun(
  { services: { db }, actor, runId }: Opening,
  { steps, calls }: { steps: string[][]; calls: string[][] },
): AsyncGenerator<string> {
  const organizationId = actor.orgId;
  const run = await db.run.findFirstOrThrow({ where: { id: runId, organizationId }, select: RUN_OF_FILE });
  yield JSON.stringify(run, null, 2).slice(0, -"\n}".length);
  yield* writeList("steps", steps, (ids) =>
    db.step.findMany({
      where: { id: { in: ids }, organizationId },
      orderBy: { stepNumber: "asc" },
      select: STEP_OF_FILE,
    }),
  );
  yield* writeList("modelCalls", calls, (ids) =>
    db.modelCall.findMany({
      where: { id: { in: ids }, organizationId },
      orderBy: { id: "asc" },
      select: CALL_OF_FILE,
    }),
  );
  yield "\n}\n";
}

async function* writeList(
  name: string,
  pieces: string[][],
  read: (ids: string[]) => Promise<object[]>,
): AsyncGenerator<string> {
  let text = `,\n  "${name}": [`;
  let isEmpty = true;
  for (const ids of pieces) {
    for (const row of await read(ids)) {
      // A text within JSON has no line break.
      text += `${isEmpty ? "" : ","}${`\n${JSON.stringify(row, null, 2)}`.replaceAll("\n", "\n    ")}`;
      isEmpty = false;
    }
    yield text;
    text = "";
  }
  yield `${text}${isEmpty ? "" : "\n  "}]`;
}
