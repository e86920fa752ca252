import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import {
  formatBytes,
  formatCount,
  formatTokens,
  formatUsed,
  formatWholeShare,
  NONE,
} from "@/app/_ui/figures/format";
import { Moment } from "@/app/_ui/figures/time";
import { JsonView } from "@/app/_ui/json/view";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { CallDetail } from "@/server/runs/read/inspect/inspect-line";
import { ForkButton } from "../fork/fork-button";
import { TakenOver } from "../fork/taken-over";
import { statusOf, timesOf } from "./detail-status";
import {
  ErrorText,
  InspectorFrame,
  InspectorSkeleton,
  LineDuration,
  type WorkProps,
  WorkTabs,
} from "./parts";
import { PromptView } from "./prompt";

export function CallInspector(props: WorkProps<"call">) {
  const { line } = props;
  const { runId, id: callId } = line;
  const query = useQuery(useTRPC().runs.modelCall.queryOptions({ runId, callId }));
  const call = query.data;
  if (!call) {
    return query.isError ? (
      <Unreadable query={query} what="Could not load this model call" />
    ) : (
      <InspectorSkeleton />
    );
  }
  const status = statusOf(line, call);
  const tokens = formatTokens(call.inputTokens, call.outputTokens);
  return (
    <InspectorFrame
      act={<ForkButton bench={props.bench} line={line} />}
      intro={<TakenOver bench={props.bench} line={line} />}
      facts={
        <>
          {call.model}
          {call.provider === "demo" ? " · simulated by the demo model" : ` · ${call.provider}`} ·{" "}
          <LineDuration line={timesOf(line, call)} />
        </>
      }
      figures={[
        ["Started", <Moment at={call.startedAt} key="started" />],
        ["Key", call.key],
        ["Credits", formatUsed(call.credits)],
        [
          "Finish reason",
          <span className="inline-block min-w-[10ch]" key="ended">
            {call.finishReason ?? NONE}
          </span>,
        ],
        ["Tokens", call.estimated ? `${tokens} (estimated)` : tokens],
        ...tokenParts(call),
      ]}
      label={`Model call ${call.key}`}
      line={line}
      status={status}
      title={line.label}
    >
      <WorkTabs
        {...props}
        tabs={[
          {
            value: "said",
            label: "Output",
            content: (
              <div className="flex flex-col gap-3">
                <ModelOutput call={call} isWriting={status === "Running"} />
                <ErrorText {...props} work={call} />
              </div>
            ),
          },
          { value: "saw", label: "Prompt", content: <PromptView callId={callId} runId={runId} /> },
        ]}
        work={call}
      />
    </InspectorFrame>
  );
}

function tokenParts(call: CallDetail): (readonly [string, string])[] {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens } = call;
  const parts: [string, number, number][] = [
    ["Cached input", cachedInputTokens, inputTokens],
    ["Cache writes", cacheWriteTokens, inputTokens],
    ["Reasoning", reasoningTokens, outputTokens],
  ];
  return parts
    .filter(([, tokens]) => tokens > 0)
    .map(([name, tokens, total]) => [name, `${formatCount(tokens)}, ${formatWholeShare(tokens, total)}`]);
}

function Reasoning({ reasoning: { text, bytes, cut } }: { reasoning: CallDetail["reasoning"] }) {
  return (
    <details className="group text-muted">
      <summary className="cursor-pointer truncate hover:text-ink">
        Reasoning <span className="text-faint group-open:hidden">{text.slice(0, SUMMARY_LENGTH)}</span>
      </summary>
      <p className="mt-1 max-h-96 overflow-y-auto whitespace-pre-wrap [overflow-wrap:anywhere]">
        {text}
        {cut ? <span> … {formatBytes(bytes)} in total</span> : null}
      </p>
    </details>
  );
}

const SUMMARY_LENGTH = 200;

function ModelOutput({
  call: { content, reasoning, toolCalls },
  isWriting,
}: {
  call: CallDetail;
  isWriting: boolean;
}) {
  return (
    <div className="flex flex-col gap-3">
      {reasoning.text ? <Reasoning reasoning={reasoning} /> : null}
      {content.text ? (
        <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">
          {content.text}
          {isWriting ? <span className="writing" title="The model is still writing" /> : null}
          {content.cut ? <span className="text-muted"> … {formatBytes(content.bytes)} in total</span> : null}
        </p>
      ) : null}
      {toolCalls.map((asked) => (
        <div className="rounded-md border border-line" key={asked.id}>
          <p className="border-line border-b px-3 py-1.5">
            called <span className="mono font-medium">{asked.name}</span>
          </p>
          <div className="max-h-72 overflow-auto px-3 py-2">
            <JsonView text={asked.arguments} />
          </div>
        </div>
      ))}
      {!content.text && toolCalls.length === 0 ? (
        <p className="text-faint">{isWriting ? "No output yet" : "No output"}</p>
      ) : null}
    </div>
  );
}
