"use client";

import { Moment } from "@/app/_ui/time";
import { Figures, Head, Took } from "./inspector-parts";
import { lineFacts, type WaitLine } from "./timeline-lines";

/** Why a run had no place for a while, and when. */
export function WaitInspector({ line }: { line: WaitLine }) {
  const { runId, slug, from, to } = line;
  return (
    <section aria-label="Wait">
      <Head
        facts={<Took line={lineFacts(line)} />}
        link={`/runs/${runId}?wait=${slug}`}
        status={to === null ? "Running" : null}
        waiting
        title={line.reason === "queue" ? "Queued" : to === null ? "Waits its turn" : "Waited its turn"}
      />
      <p className="max-w-prose px-4 pb-3 text-muted sm:px-6">
        {line.reason === "queue"
          ? "The run was accepted and stood in the queue until a place was free. The plan says how many runs of an organization go on at once; organizations take turns."
          : "Another organization's runs had no place while this one's had the most. So this run gave its place back between two steps, and goes on from there when its turn comes; nothing is done twice."}
      </p>
      <Figures
        facts={[
          ["From", <Moment at={from} key="from" />],
          ["To", to === null ? "—" : <Moment at={to} key="to" />],
        ]}
      />
    </section>
  );
}
