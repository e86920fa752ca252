import type { RunSummary } from "@/server/runs/read/list";

/** What started a run: `webhook inbound`, `key ci`, `Ada`. */
export function describeSource(run: Pick<RunSummary, "source" | "sourceName">): string {
  switch (run.source) {
    case "api":
      return `key ${run.sourceName ?? "deleted"}`;
    case "webhook":
      return `webhook ${run.sourceName ?? "deleted"}`;
    case "dashboard":
      return run.sourceName ?? "a former member";
    case "operator":
      return "operator";
    case "run":
      return `run of ${run.sourceName ?? "a deleted run"}`;
  }
}
