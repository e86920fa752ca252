import { z } from "zod";
import { decimalText } from "@/server/base/amount";
import { defineQuery, type Queryable } from "@/server/base/db/statement";
import { parseTraceParent } from "@/server/base/trace-context";
import { RUN_KINDS, RUN_SOURCES, RUN_STATUSES, STEP_STATUSES } from "@/server/contract/enums";
import { KIB } from "@/server/contract/sizes";
import { readToolCalls } from "@/server/runs/attempts";
import type { Span } from "./otlp";
import { runSpan, spansOfRows } from "./run-spans";

const MOST_CONTENT = 32 * KIB;
// Rows of a run's steps or calls that are in memory at once: with contents about 5 MiB.
const PAGE = 50;

const contents = z.object({ input: z.string(), output: z.string().nullable() }).nullable();
const CONTENTS = `CASE WHEN $2 THEN json_build_object(
  'input', left(x.input, ${MOST_CONTENT}), 'output', left(x.output, ${MOST_CONTENT})) END AS contents`;
// It may quote what a step or a provider was given.
const ERROR_MESSAGE = `CASE WHEN $2 THEN left(x.error_message, ${MOST_CONTENT}) END AS "errorMessage"`;

// A child run's first steps start before its start is written. A span starts no later than its children.
const startOf = (run: string) => `least(coalesce(${run}.started_at, ${run}.created_at),
  (SELECT min(started_at) FROM steps WHERE run_id = ${run}.id),
  (SELECT min(started_at) FROM model_calls WHERE run_id = ${run}.id))`;

const RUNS = defineQuery(
  "traced-runs",
  z.object({
    id: z.string(),
    rootRunId: z.string(),
    traceParent: z.string().nullable(),
    parent: z.object({ runId: z.string(), stepKey: z.string() }).nullable(),
    organization: z.string(),
    kind: z.enum(RUN_KINDS),
    name: z.string(),
    targetId: z.string(),
    version: z.int(),
    status: z.enum(RUN_STATUSES),
    source: z.enum(RUN_SOURCES),
    errorCode: z.string().nullable(),
    errorMessage: z.string().nullable(),
    inputTokens: z.int(),
    outputTokens: z.int(),
    credits: decimalText,
    startedAt: z.date(),
    finishedAt: z.date(),
    contents,
  }),
  `SELECT x.id, x.root_run_id AS "rootRunId", root.trace_parent AS "traceParent",
     (SELECT json_build_object('runId', s.run_id, 'stepKey', s.key) FROM steps s
      WHERE s.run_id = x.parent_run_id AND s.child_run_id = x.id LIMIT 1) AS parent,
     o.slug AS organization, x.kind, x.target_name AS name, coalesce(x.agent_id, x.tool_id) AS "targetId",
     x.target_version AS version, x.status, x.source, x.error_code AS "errorCode", ${ERROR_MESSAGE},
     x.input_tokens AS "inputTokens", x.output_tokens AS "outputTokens", x.credits_used AS credits,
     ${startOf("x")} AS "startedAt", x.finished_at AS "finishedAt", ${CONTENTS}
   FROM runs x JOIN runs root ON root.id = x.root_run_id JOIN organizations o ON o.id = x.organization_id
   WHERE x.id = ANY ($1::uuid[]) AND x.finished_at IS NOT NULL`,
);

const timed = {
  runId: z.string(),
  key: z.string(),
  status: z.enum(STEP_STATUSES),
  errorMessage: z.string().nullable(),
  startedAt: z.date(),
  finishedAt: z.date(),
};
const TIMED = `x.run_id AS "runId", x.key, x.status, ${ERROR_MESSAGE}, x.finished_at AS "finishedAt"`;
// The rows of a run after a key, by the unique index of run and key.
const PAGED = `x.run_id = $1 AND x.finished_at IS NOT NULL AND x.key > $3`;
const ORDERED = `ORDER BY x.key LIMIT ${PAGE}`;

// After a crash a step may start again while its child run continues.
const STEPS = defineQuery(
  "traced-steps",
  z.object({ ...timed, name: z.string(), contents }),
  `SELECT ${TIMED}, x.tool_name AS name, ${CONTENTS},
     CASE WHEN child.id IS NULL THEN x.started_at ELSE least(x.started_at, ${startOf("child")}) END AS "startedAt"
   FROM steps x LEFT JOIN runs child ON child.id = x.child_run_id AND child.parent_run_id = x.run_id
   WHERE ${PAGED} AND x.status <> 'Skipped' ${ORDERED}`,
);

const CALLS = defineQuery(
  "traced-calls",
  z.object({
    ...timed,
    provider: z.string(),
    model: z.string(),
    finishReason: z.string().nullable(),
    inputTokens: z.int(),
    outputTokens: z.int(),
    cachedInputTokens: z.int(),
    cacheWriteTokens: z.int(),
    reasoningTokens: z.int(),
    reply: z.object({ text: z.string(), toolCalls: z.string().transform(readToolCalls) }).nullable(),
  }),
  `SELECT ${TIMED}, x.started_at AS "startedAt", x.provider, x.model, x.finish_reason AS "finishReason", x.input_tokens AS "inputTokens",
     x.output_tokens AS "outputTokens", x.cached_input_tokens AS "cachedInputTokens",
     x.cache_write_tokens AS "cacheWriteTokens", x.reasoning_tokens AS "reasoningTokens",
     CASE WHEN $2 THEN json_build_object('text', left(x.content, ${MOST_CONTENT}), 'toolCalls',
       CASE WHEN length(x.tool_calls) <= ${MOST_CONTENT} THEN x.tool_calls ELSE '[]' END) END AS reply
   FROM model_calls x WHERE ${PAGED} ${ORDERED}`,
);

/** The spans of ended runs and their steps and model calls. A run may have more of them than fit into memory. */
export async function* readSpans(
  pool: Queryable,
  ids: readonly string[],
  { contents }: { contents: boolean },
): AsyncGenerator<Span> {
  for (const run of await RUNS(pool, [ids, contents])) {
    // The caller's trace is not sampled.
    if (parseTraceParent(run.traceParent)?.isSampled === false) continue;
    yield runSpan(run);
    for await (const calls of pagesOf(CALLS, pool, [run.id, contents])) yield* spansOfRows(run, { calls });
    for await (const steps of pagesOf(STEPS, pool, [run.id, contents])) yield* spansOfRows(run, { steps });
  }
}

async function* pagesOf<Row extends { key: string }>(
  read: (pool: Queryable, values: unknown[]) => Promise<Row[]>,
  pool: Queryable,
  values: unknown[],
): AsyncGenerator<Row[]> {
  let after: string | undefined = "";
  while (after !== undefined) {
    const rows = await read(pool, [...values, after]);
    yield rows;
    after = rows.length === PAGE ? rows.at(-1)?.key : undefined;
  }
}
