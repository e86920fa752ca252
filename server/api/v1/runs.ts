import type { z } from "zod";
import { AppError, codeOf } from "@/server/base/errors";
import { RUN_KINDS, RUN_SOURCES, RUN_STATUSES } from "@/server/contract/enums";
import { runListItem } from "@/server/contract/run-lists";
import { MAX_SEARCH_LENGTH } from "@/server/runs/read/enums";
import { listRunLines } from "@/server/runs/read/run-lines";
import { choice, choices, flag, id, METADATA_PARAMETER, metadata, moment, textParameter } from "./filters";
import { idCursor, listEndpoint } from "./list";

export const exampleRun: z.input<typeof runListItem> = {
  id: "019aa5d1-a2c4-7d11-9b6e-3f1c5e7a9b02",
  kind: "agent",
  targetId: "019aa5c0-0a9f-7c08-b1d4-8e2f6a3b5c70",
  targetName: "Helper",
  targetVersion: 3,
  model: "gpt-5-mini",
  status: "Completed",
  errorCode: null,
  source: "api",
  triggerId: null,
  scheduleId: null,
  apiKeyId: "019aa5c0-1c02-7b6e-9d5f-2a4e6c8b0d13",
  parentRunId: null,
  metadata: { customer: "acme" },
  stepsExecuted: 1,
  tokensUsed: 412,
  actionsUsed: 1,
  creditsUsed: "0.0612",
  createdAt: "2026-11-21T01:22:07.000Z",
  startedAt: "2026-11-21T01:22:07.120Z",
  finishedAt: "2026-11-21T01:22:10.480Z",
};

export const runs = {
  list: listEndpoint({
    path: "/v1/runs",
    operationId: "listRuns",
    tag: "Runs",
    summary: "List runs",
    description:
      "The organization's runs, newest first, without those that other runs started. A page continues where the " +
      "previous one ended, whatever runs started since. A key that is limited to agents and tools gets only their runs.",
    scope: "runs:list",
    id: "RunList",
    item: runListItem,
    cursor: idCursor,
    filters: {
      kind: choice("kind", { among: RUN_KINDS, description: "Only runs of agents, or of tools" }),
      status: choices("status", {
        among: RUN_STATUSES,
        description: `Only runs with these statuses: ${RUN_STATUSES.join(", ")}, with commas between them`,
      }),
      target: id("target", "Only runs of this agent or tool"),
      trigger: id("trigger", "Only runs that this trigger started"),
      schedule: id("schedule", "Only runs that this schedule started"),
      key: id("key", "Only runs that this API key started"),
      source: choice("source", {
        among: RUN_SOURCES,
        description: "Only runs with this source; run needs children=true",
      }),
      from: moment("from", "Only runs created at this time or later"),
      to: moment("to", "Only runs created before this time"),
      text: textParameter("text", {
        max: MAX_SEARCH_LENGTH,
        description:
          "Only runs whose input, output or error has these words, or whose id starts with this text",
      }),
      [METADATA_PARAMETER]: metadata(
        "Only runs whose start gave this text, number or boolean as KEY of its metadata",
      ),
      children: flag("children", "true: also the runs that other runs started"),
    },
    example: { item: exampleRun, filters: { status: ["Completed"], children: false } },
    async list(services, actor, { filters, page }) {
      const { kind, status, target, trigger, schedule, key, source, from, to, text, children } = filters;
      if (source === "run" && !children) {
        throw new AppError("invalid_request", "source=run lists child runs: add children=true.");
      }
      const filter = {
        metadata: filters[METADATA_PARAMETER],
        kind,
        // The dashboard tells running runs from those that wait for a slot.
        status: status?.flatMap((each) => (each === "Running" ? ([each, "Waiting"] as const) : [each])),
        source: source ?? (children ? undefined : ("outside" as const)),
        targetIds: target === undefined ? undefined : [target],
        triggerId: trigger,
        scheduleId: schedule,
        apiKeyId: key,
        from,
        to,
        text,
      };
      return listRunLines(services, actor, { filter, before: page.cursor, limit: page.limit }).catch(
        (error: unknown) => {
          if (text === undefined || codeOf(error) !== STATEMENT_TIMEOUT) throw error;
          const message = "The search took too long. Narrow it with from, to, status or target.";
          throw new AppError("invalid_request", message, { cause: error });
        },
      );
    },
  }),
};

const STATEMENT_TIMEOUT = "57014";
