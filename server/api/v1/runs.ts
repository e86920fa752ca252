import { z } from "zod";
import { endpoint, flagParameter, integerParameter } from "@/server/api/endpoint";
import { RUN_KINDS, RUN_SOURCES, RUN_STATUSES } from "@/server/contract/enums";
import { listRuns, type RunSummary } from "@/server/runs/read/list";

const status = z.enum(RUN_STATUSES, `status must be one of ${RUN_STATUSES.join(", ")}`);
const count = z.int().min(0);
const timestamp = z.iso.datetime({ precision: 3 });

const runLine = z
  .object({
    id: z.uuid(),
    kind: z.enum(RUN_KINDS).meta({ description: "What was started" }),
    targetId: z.uuid().meta({ description: "The agent or tool" }),
    targetName: z.string(),
    status: status.meta({ description: "Of a cancelled tool run, too: Cancelled" }),
    source: z
      .enum(RUN_SOURCES)
      .meta({ description: "run: another run started it; draft: a draft was tried in an editor" }),
    stepsExecuted: count,
    tokensUsed: count,
    creditsUsed: z.string().meta({ description: "A decimal with four places, such as 0.0612" }),
    createdAt: timestamp,
    startedAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
  })
  .meta({ id: "RunListItem", description: "A run without input and output" });

const runList = z
  .object({
    data: z.array(runLine),
    nextCursor: z.uuid().nullable().meta({ description: "The cursor of the next page; null at the end" }),
    applied: z
      .object({ status: status.nullable(), children: z.boolean(), limit: z.int() })
      .meta({ description: "The filter and limit that the page has" }),
  })
  .meta({ id: "RunList" });

const input = z.object({
  status: status.meta({ description: "Only runs with this status" }).optional(),
  children: flagParameter("children", "true: also the runs that other runs started").default(false),
  limit: integerParameter("limit", {
    min: 1,
    max: 200,
    description: "The most runs of the page; 50 by default",
  }).default(50),
  cursor: z.uuid("cursor is not valid").meta({ description: "nextCursor of the previous page" }).optional(),
});

const lineOf = (run: RunSummary): z.input<typeof runLine> => ({
  id: run.id,
  kind: run.kind,
  targetId: run.targetId,
  targetName: run.targetName,
  status: run.status,
  source: run.source,
  stepsExecuted: run.steps,
  tokensUsed: run.tokens,
  creditsUsed: run.credits,
  createdAt: run.createdAt,
  startedAt: run.startedAt,
  finishedAt: run.finishedAt,
});

export const runs = {
  list: endpoint({
    method: "GET",
    path: "/v1/runs",
    operationId: "listRuns",
    tag: "Runs",
    summary: "List runs",
    description:
      "The organization's runs, newest first, without those that other runs started. A page continues where the " +
      "previous one ended, whatever runs started since. A key that is limited to agents and tools gets only their runs.",
    successDescription: "A page of runs",
    scope: "runs:list",
    limit: "reads",
    input,
    answer: runList,
    example: {
      response: {
        data: [
          {
            id: "019aa5d1-a2c4-7d11-9b6e-3f1c5e7a9b02",
            kind: "agent",
            targetId: "019aa5c0-0a9f-7c08-b1d4-8e2f6a3b5c70",
            targetName: "Helper",
            status: "Completed",
            source: "api",
            stepsExecuted: 1,
            tokensUsed: 412,
            creditsUsed: "0.0612",
            createdAt: "2026-11-21T01:22:07.000Z",
            startedAt: "2026-11-21T01:22:07.120Z",
            finishedAt: "2026-11-21T01:22:10.480Z",
          },
        ],
        nextCursor: "019aa5d1-a2c4-7d11-9b6e-3f1c5e7a9b02",
        applied: { status: "Completed", children: false, limit: 1 },
      } satisfies z.input<typeof runList>,
    },
    async run(services, actor, { status: only, children, limit, cursor }) {
      const { items, nextCursor } = await listRuns(services, actor, {
        filter: {
          ...(only === undefined ? {} : { status: [only] }),
          ...(children ? {} : { source: "outside" }),
          ...(actor.targetIds.length === 0 ? {} : { targetIds: [...actor.targetIds] }),
        },
        before: cursor,
        limit,
      });
      const applied = { status: only ?? null, children, limit };
      return { data: items.map(lineOf), nextCursor, applied };
    },
  }),
};
