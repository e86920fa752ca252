"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatBytes, formatTokens, formatUsed } from "@/app/_ui/figures/format";
import { Moment } from "@/app/_ui/figures/time";
import { JsonView } from "@/app/_ui/json/view";
import { Tabs } from "@/app/_ui/tabs";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { CallDetail } from "@/server/runs/read/inspect/inspect-line";
import { statusOf, type WorkLine } from "../lines";
import { attemptsTab, ErrorText, Figures, Head, InspectorSkeleton, LineDuration, recordTab } from "./parts";
import { PromptView } from "./prompt";

/** One model call: its output, prompt, attempts and figures. */
export function CallInspector({
  line,
  attempt,
  tab,
  onTab,
  runError,
}: {
  line: WorkLine & { kind: "call" };
  /** The number of the selected attempt. */
  attempt: number | null;
  tab: string;
  onTab: (tab: string) => void;
  runError: string;
}) {
  const { runId } = line;
  const callId = line.call.id;
  const trpc = useTRPC();
  const query = useQuery(trpc.runs.modelCall.queryOptions({ runId, callId }));
  if (query.isError) return <Unreadable query={query} what="This model call could not be read" />;
  if (!query.data) return <InspectorSkeleton />;
  const call = query.data;
  return (
    <section aria-label={`Model call ${call.key}`}>
      <Head
        facts={
          <>
            {call.model}
            {call.provider === "demo" ? " · simulated by the demo model" : ` · ${call.provider}`} ·{" "}
            <LineDuration line={call} />
          </>
        }
        link={`/runs/${runId}?call=${encodeURIComponent(call.key)}`}
        status={statusOf(line, call)}
        title={line.label}
      />
      <Figures
        facts={[
          ["Started", <Moment at={call.startedAt} key="started" />],
          ["Key", call.key],
          ["Credits", formatUsed(call.credits)],
          [
            "Finish reason",
            <span className="inline-block min-w-[10ch]" key="ended">
              {call.finishReason ?? "–"}
            </span>,
          ],
          [
            "Tokens",
            `${formatTokens(call.inputTokens, call.outputTokens)}${call.estimated ? " (estimated)" : ""}`,
          ],
        ]}
      />
      <Tabs
        onChange={onTab}
        tabs={[
          {
            value: "said",
            label: "Output",
            content: (
              <>
                <ModelOutput call={call} />
                {call.errorMessage ? (
                  <ErrorText status={statusOf(line, call)} text={call.errorMessage} runError={runError} />
                ) : null}
              </>
            ),
          },
          { value: "saw", label: "Prompt", content: <PromptView callId={callId} runId={runId} /> },
          attemptsTab(call, attempt),
          recordTab(call),
        ]}
        value={tab}
      />
    </section>
  );
}

function ModelOutput({ call }: { call: CallDetail }) {
  return (
    <div className="flex flex-col gap-3">
      {call.content.text ? (
        <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">
          {call.content.text}
          {call.status === "Running" ? <span className="writing" title="The model is still writing" /> : null}
          {call.content.cut ? (
            <span className="text-muted"> … {formatBytes(call.content.bytes)} in total</span>
          ) : null}
        </p>
      ) : null}
      {call.toolCalls.map((asked) => (
        <div className="rounded-md border border-line" key={asked.id}>
          <p className="border-line border-b px-3 py-1.5">
            called <span className="mono font-medium">{asked.name}</span>
          </p>
          <div className="max-h-72 overflow-auto px-3 py-2">
            <JsonView text={asked.arguments} />
          </div>
        </div>
      ))}
      {!call.content.text && call.toolCalls.length === 0 ? (
        <p className="text-faint">{call.status === "Running" ? "No output yet" : "No output"}</p>
      ) : null}
    </div>
  );
}
