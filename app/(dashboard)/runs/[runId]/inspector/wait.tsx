"use client";

import { Moment } from "@/app/_ui/figures/time";
import { lineFacts, type WaitLine } from "../lines";
import { Figures, Head, LineDuration } from "./parts";

/** Why and when a run waited for a slot. */
export function WaitInspector({ line }: { line: WaitLine }) {
  const { runId, slug, from, to } = line;
  return (
    <section aria-label="Wait">
      <Head
        facts={<LineDuration line={lineFacts(line)} />}
        link={`/runs/${runId}?wait=${slug}`}
        status={to === null ? "Running" : null}
        waiting
        title={line.reason === "queue" ? "Queued" : to === null ? "Waiting for a slot" : "Waited for a slot"}
      />
      <p className="max-w-prose px-4 pb-3 text-muted sm:px-6">
        {line.reason === "queue"
          ? "The run was queued until a slot was free. The plan limits how many runs of an organization execute at once, and organizations take turns."
          : "Another organization's runs had no slot while this organization had the most. So this run yielded its slot between two steps. It continues from there when a slot is free; no step is repeated."}
      </p>
      <Figures
        facts={[
          ["From", <Moment at={from} key="from" />],
          ["To", to === null ? "–" : <Moment at={to} key="to" />],
        ]}
      />
    </section>
  );
}
