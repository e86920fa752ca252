"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { type ReactNode, useState } from "react";
import { Button } from "@/app/_ui/button";
import { CopyButton } from "@/app/_ui/copy-button";
import { formatBytes, formatCount, formatCredits, formatDuration, shortId } from "@/app/_ui/format";
import { JsonView, PlainText } from "@/app/_ui/json-view";
import { Bone } from "@/app/_ui/page";
import { useTRPC } from "@/app/_ui/providers";
import { Status } from "@/app/_ui/status";
import { Tabs } from "@/app/_ui/tabs";
import { Elapsed, Moment } from "@/app/_ui/time";
import { Unreadable } from "@/app/_ui/unreadable";
import { useWholeText } from "@/app/_ui/whole-text";
import type { Attempt, CallDetail, LongText, RunDetail, StepDetail } from "@/server/runs/inspect";
import type { Line } from "./timeline-lines";

/** What one line of the timeline holds: a step's input, output and reasoning, or what the model said. */
export function Inspector({ run, line }: { run: RunDetail; line: Line }) {
  return line.kind === "step" ? (
    <StepInspector runId={run.id} stepId={line.step.id} />
  ) : (
    <CallInspector callId={line.call.id} label={line.label} runId={run.id} />
  );
}

function StepInspector({ runId, stepId }: { runId: string; stepId: string }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.runs.step.queryOptions({ runId, stepId }));
  const [tab, setTab] = useState("output");
  if (query.isError)
    return (
      <Unreadable
        error={query.error}
        onRetry={() => void query.refetch()}
        what="This step could not be read"
      />
    );
  if (!query.data) return <InspectorBones />;
  const step = query.data;
  const address = `/api/runs/${runId}/text?step=${stepId}`;
  return (
    <section aria-label={`Step ${step.number}`}>
      <Head
        facts={
          <>
            iteration {step.iteration} · <Took line={step} />
          </>
        }
        status={step.status}
        title={
          <>
            Step {step.number} · <span className="mono">{step.name}</span>
          </>
        }
      />
      {step.errorMessage ? <ErrorText text={step.errorMessage} /> : null}
      {step.childRunId ? (
        <p className="px-4 pb-2 sm:px-6">
          <Link className="text-accent underline" href={`/runs/${step.childRunId}`}>
            Open the run {shortId(step.childRunId)} that it started
          </Link>
        </p>
      ) : null}
      {step.reasoning ? (
        <div className="px-4 pb-3 sm:px-6">
          <h3 className="text-muted text-xs">Reasoning</h3>
          <p className="mt-0.5 max-h-48 overflow-y-auto whitespace-pre-wrap [overflow-wrap:anywhere]">
            {step.reasoning}
          </p>
        </div>
      ) : null}
      <Tabs
        onChange={setTab}
        tabs={[
          {
            value: "input",
            label: "Input",
            content: <TextPanel address={`${address}&field=input`} text={step.input} />,
          },
          {
            value: "output",
            label: "Output",
            content: step.output ? (
              <TextPanel address={`${address}&field=output`} text={step.output} />
            ) : (
              <p className="text-faint">not there yet</p>
            ),
          },
          {
            value: "attempts",
            label: step.tries.length > 1 ? `Attempts (${step.tries.length})` : "Attempts",
            content: <Attempts tries={step.tries} />,
          },
          { value: "raw", label: "Raw", content: <Raw value={step} /> },
        ]}
        value={tab}
      />
      <Figures
        facts={[
          ["Tokens", `${formatCount(step.inputTokens)} in · ${formatCount(step.outputTokens)} out`],
          ["Credits", formatCredits(step.credits)],
          ["Started", <Moment at={step.startedAt} key="started" />],
          ["Key", step.key],
        ]}
      />
    </section>
  );
}

function CallInspector({ runId, callId, label }: { runId: string; callId: string; label: string }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.runs.modelCall.queryOptions({ runId, callId }));
  const [tab, setTab] = useState("said");
  if (query.isError)
    return (
      <Unreadable
        error={query.error}
        onRetry={() => void query.refetch()}
        what="This step could not be read"
      />
    );
  if (!query.data) return <InspectorBones />;
  const call = query.data;
  return (
    <section aria-label={`Model call ${call.key}`}>
      <Head
        facts={
          <>
            {call.model}
            {call.provider === "demo" ? " · simulated by the demo model" : ` · ${call.provider}`} ·{" "}
            <Took line={call} />
          </>
        }
        status={call.status}
        title={
          <>
            Iteration {call.iteration} · <span className="mono">{label}</span>
          </>
        }
      />
      {call.errorMessage ? <ErrorText text={call.errorMessage} /> : null}
      <Tabs
        onChange={setTab}
        tabs={[
          { value: "said", label: "Said", content: <Said call={call} /> },
          {
            value: "attempts",
            label: call.tries.length > 1 ? `Attempts (${call.tries.length})` : "Attempts",
            content: <Attempts tries={call.tries} />,
          },
          { value: "raw", label: "Raw", content: <Raw value={call} /> },
        ]}
        value={tab}
      />
      <Figures
        facts={[
          [
            "Tokens",
            `${formatCount(call.inputTokens)} in · ${formatCount(call.outputTokens)} out${call.estimated ? " (estimated)" : ""}`,
          ],
          ["Credits", formatCredits(call.credits)],
          ["Started", <Moment at={call.startedAt} key="started" />],
          ["Ended by", call.finishReason ?? "—"],
          ["Key", call.key],
        ]}
      />
    </section>
  );
}

function Said({ call }: { call: CallDetail }) {
  return (
    <div className="flex flex-col gap-3">
      {call.content.text ? (
        <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">
          {call.content.text}
          {call.content.cut ? (
            <span className="text-muted"> … {formatBytes(call.content.bytes)} in all</span>
          ) : null}
        </p>
      ) : null}
      {call.toolCalls.map((asked) => (
        <div className="rounded-md border border-line" key={asked.id}>
          <p className="border-line border-b px-3 py-1.5">
            asked for <span className="mono font-medium">{asked.name}</span>
          </p>
          <div className="max-h-72 overflow-auto px-3 py-2">
            <JsonView text={asked.arguments} />
          </div>
        </div>
      ))}
      {!call.content.text && call.toolCalls.length === 0 ? (
        <p className="text-faint">{call.status === "Running" ? "not there yet" : "nothing"}</p>
      ) : null}
    </div>
  );
}

function Head({
  title,
  facts,
  status,
}: {
  title: ReactNode;
  facts: ReactNode;
  status: StepDetail["status"];
}) {
  return (
    <div className="flex min-h-12 flex-wrap items-center gap-x-3 px-4 py-2 sm:px-6">
      <h2 className="font-semibold text-base">{title}</h2>
      <Status status={status} />
      <span className="ml-auto text-muted">{facts}</span>
    </div>
  );
}

function Took({
  line,
}: {
  line: { startedAt: string; finishedAt: string | null; durationMs: number | null };
}) {
  return (
    <span className="mono">
      {line.durationMs === null ? (
        <Elapsed from={line.startedAt} lively to={line.finishedAt} />
      ) : (
        formatDuration(line.durationMs)
      )}
    </span>
  );
}

function ErrorText({ text }: { text: string }) {
  return (
    <p className="mx-4 mb-3 max-h-60 overflow-auto whitespace-pre-wrap rounded-md bg-failed-wash px-3 py-2 text-failed [overflow-wrap:anywhere] sm:mx-6">
      {text}
    </p>
  );
}

/** A text of a step as a tree or plain; the rest of a long one on demand. */
function TextPanel({ text, address }: { text: LongText; address: string }) {
  const whole = useWholeText(text, address);
  return (
    <div>
      <div className="mb-2 flex min-h-7 items-center gap-2 text-muted text-xs">
        <span>{formatBytes(text.bytes)}</span>
        {whole.cut ? (
          <Button className="h-7" disabled={whole.loading} onClick={whole.load}>
            {whole.loading ? "Loading" : `Load all ${formatBytes(text.bytes)}`}
          </Button>
        ) : null}
        {whole.failed ? <span className="text-failed">It could not be read. Try again.</span> : null}
        <a className="ml-auto hover:text-ink hover:underline" href={`${address}&download=1`}>
          Download
        </a>
        <CopyButton label="Copy" text={whole.read} />
      </div>
      <JsonView cut={whole.cut} text={whole.text} tools />
    </div>
  );
}

function Attempts({ tries }: { tries: Attempt[] }) {
  if (tries.length === 0) return <p className="text-faint">none recorded</p>;
  return (
    <ol className="flex flex-col">
      {tries.map((attempt, index) => (
        <li
          className="grid grid-cols-[1.5rem_auto_1fr] gap-x-3 border-line border-b py-1.5 last:border-0"
          key={attempt.startedAt}
        >
          <span className="text-faint">{index + 1}</span>
          <span className="mono">{formatDuration(attempt.durationMs)}</span>
          <span className={attempt.error ? "text-failed [overflow-wrap:anywhere]" : "text-muted"}>
            {attempt.error ?? "succeeded"}
          </span>
        </li>
      ))}
    </ol>
  );
}

function Raw({ value }: { value: StepDetail | CallDetail }) {
  return <PlainText text={JSON.stringify(value, null, 2)} />;
}

function Figures({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="flex flex-wrap gap-x-5 gap-y-1 border-line border-t px-4 py-2.5 sm:px-6">
      {facts.map(([name, value]) => (
        <div className="flex gap-1.5" key={name}>
          <dt className="text-muted">{name}</dt>
          <dd className="mono pt-px">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function InspectorBones() {
  return (
    <div aria-busy="true" className="flex flex-col gap-4 px-4 py-4 sm:px-6">
      <Bone className="w-48" />
      <Bone className="w-full" />
      <Bone className="w-2/3" />
      <Bone className="w-3/4" />
    </div>
  );
}
