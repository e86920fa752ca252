import { type ErrorCode, HTTP_STATUS } from "@/server/contract/errors";
import { type Count, Counter, type Histogram, HistogramFamily } from "./families";
import { ModelFigures } from "./model-figures";

/** The classes of routes whose requests are counted; not health and metrics. */
export type RouteClass = "rest" | "mcp" | "webhook" | "inngest" | "pages";

/** From a poll to a wait for the end of a run, in seconds. */
const REQUEST_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.25, 1, 2.5, 10, 30];
/** From `calculate` to the longest call of a function, in seconds. */
const STEP_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 120];
/** From a short answer to reasoning, in seconds. */
const RUN_SECONDS = [0.01, 0.1, 0.5, 1, 2.5, 10, 30, 60, 300, 900, 3_600];
const FLUSH_ITEMS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/**
 * Creates all figures that a process counts; docs/operating.md lists them. No label has a text of a tenant: `models` are the names that may
 * be one, `functions` those of our functions.
 */
export function createMetrics({
  models,
  functions,
}: {
  models: Iterable<string>;
  functions: Iterable<string>;
}) {
  const requests = new Counter({
    name: "stepwell_http_requests_total",
    help: "Answered requests without files of pages, by class of route and status.",
    labels: ["route", "status"],
  });
  const requestSeconds = new HistogramFamily(
    {
      name: "stepwell_http_request_duration_seconds",
      help: "Duration of requests, by class of route. Waits (`?wait=`) and live streams count in full.",
      labels: ["route"],
    },
    REQUEST_SECONDS,
  );
  const rejections = new Counter({
    name: "stepwell_rejections_total",
    help: "Rejected requests, by error code.",
    labels: ["code"],
  });
  const steps = new HistogramFamily(
    {
      name: "stepwell_step_duration_seconds",
      help: "Duration of executed steps, by function; `other`: tools and agents that a run calls.",
      labels: ["function"],
    },
    STEP_SECONDS,
  );
  const known = new Set(functions);
  const ofFunction = new Map<string, Histogram>();
  const codes: Partial<Record<string, Count>> = {};
  for (const code in HTTP_STATUS) codes[code] = rejections.of(code);
  const statuses: Record<RouteClass, (Count | undefined)[]> = {
    rest: [],
    mcp: [],
    webhook: [],
    inngest: [],
    pages: [],
  };
  return {
    runsStarted: new Counter({
      name: "stepwell_runs_started_total",
      help: "Accepted starts of runs, by kind and source.",
      labels: ["kind", "source"],
    }),
    runsEnded: new Counter({
      name: "stepwell_runs_ended_total",
      help: "Ended runs, by kind, status and source.",
      labels: ["kind", "status", "source"],
    }),
    runSeconds: new HistogramFamily(
      {
        name: "stepwell_run_duration_seconds",
        help: "Time from the first slot to the end of runs that this process executed, by kind.",
        labels: ["kind"],
      },
      RUN_SECONDS,
    ),
    flushItems: new HistogramFamily(
      {
        name: "stepwell_flush_items",
        help: "Items that one write to the database carries, by lane.",
        labels: ["lane"],
      },
      FLUSH_ITEMS,
    ),
    requests,
    requestSeconds,
    rejections,
    steps,
    models: new ModelFigures(models),
    countRequest(route: RouteClass, { status, durationMs }: { status: number; durationMs: number }): void {
      const ofRoute = statuses[route];
      const count = ofRoute[status] ?? requests.of(route, String(status));
      count.value += 1;
      ofRoute[status] = count;
      requestSeconds.of(route).observe(durationMs / 1_000);
    },
    countRejection(code: ErrorCode): void {
      const count = codes[code];
      if (count !== undefined) count.value += 1;
    },
    observeStep(name: string, ms: number): void {
      const label = known.has(name) ? name : "other";
      const ofLabel = ofFunction.get(label) ?? steps.of(label);
      ofFunction.set(label, ofLabel);
      ofLabel.observe(ms / 1_000);
    },
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
