"use client";

import { useMutation } from "@tanstack/react-query";
import { IconButton } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { PartHead } from "@/app/_ui/figures/facts";
import { formatDuration, formatSpan, NONE } from "@/app/_ui/figures/format";
import { StatusShape } from "@/app/_ui/figures/status";
import { Ago } from "@/app/_ui/figures/time";
import { PlayIcon } from "@/app/_ui/icons";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { notify } from "@/app/_ui/toast";
import type { SystemJob } from "@/server/operate/system/status";

const COLUMNS: LineColumn<SystemJob>[] = [
  {
    head: "Job",
    width: "w-[26%]",
    area: "start",
    cell: ({ title }) => <span className="font-medium">{title}</span>,
  },
  {
    head: "Last",
    width: "w-28",
    area: "lastStart",
    look: "muted",
    cell: ({ last }) => (last === null ? "Not yet" : <Ago at={last.finishedAt} />),
  },
  { head: "Result", area: "last", look: "cut", cell: ({ last }) => <Result last={last} /> },
  {
    head: "Took",
    width: "w-28",
    area: "none",
    look: "figure",
    cell: ({ last }) => (
      <span className="text-muted">{last === null ? NONE : formatDuration(last.tookMs)}</span>
    ),
  },
  {
    head: "Every",
    width: "w-24",
    area: "none",
    look: "figure",
    cell: ({ everyMs }) => <span className="text-muted">{formatSpan(everyMs)}</span>,
  },
  { head: "Run now", width: "w-14", area: "action", cell: (job) => <RunJob job={job} /> },
];

export function Maintenance({ jobs }: { jobs: readonly SystemJob[] }) {
  return (
    <section aria-label="Maintenance">
      <PartHead title="Maintenance">
        <p className="text-muted text-xs">Frequent jobs are recorded once a minute</p>
      </PartHead>
      <LineList columns={COLUMNS} keyOf={({ name }) => name} label="Maintenance" lines={jobs} />
    </section>
  );
}

function Result({ last }: Pick<SystemJob, "last">) {
  if (last === null) return NONE;
  return (
    <span className={`flex min-w-0 items-center gap-1.5 ${last.failed ? "text-failed" : "text-completed"}`}>
      <StatusShape status={last.failed ? "Failed" : "Completed"} />
      <span className="truncate" title={last.text}>
        {last.text}
      </span>
    </span>
  );
}

function RunJob({ job: { name, title } }: { job: SystemJob }) {
  const trpc = useTRPC();
  const run = useMutation(
    trpc.system.runJob.mutationOptions({
      meta: { refresh: [trpc.system.status.pathKey(), trpc.system.database.pathKey()] },
      onSuccess: ({ text }) => notify(title, text),
      onError: (error) => notify(`Could not run: ${title}`, describeError(error).message),
    }),
  );
  return (
    <IconButton disabled={run.isPending} label={`Run now: ${title}`} onClick={() => run.mutate({ name })}>
      <PlayIcon />
    </IconButton>
  );
}
