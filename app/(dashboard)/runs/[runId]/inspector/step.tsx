import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import type { ReactNode } from "react";
import { Button } from "@/app/_ui/button";
import { CopyButton } from "@/app/_ui/copy-button";
import { useOrganizationAddress } from "@/app/_ui/data/page-organization";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatBytes, formatTokens, formatUsed, shortId } from "@/app/_ui/figures/format";
import { Moment } from "@/app/_ui/figures/time";
import { JsonView, parseDocument } from "@/app/_ui/json/view";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { Fold } from "@/app/_ui/text/fold";
import { isLong } from "@/app/_ui/text/long-text";
import { Unreadable } from "@/app/_ui/text/unreadable";
import { usePayload } from "@/app/_ui/text/use-payload";
import { anyCase } from "@/server/base/json/any-case";
import type { StepDetail } from "@/server/runs/read/inspect/inspect-line";
import type { PayloadPreview } from "@/server/runs/read/inspect/payload-preview";
import { ForkButton } from "../fork/fork-button";
import { TakenOver } from "../fork/taken-over";
import { statusOf, timesOf } from "./detail-status";
import { readHttpExchange } from "./http-exchange";
import {
  ErrorText,
  InspectorFrame,
  InspectorSkeleton,
  LineDuration,
  type WorkProps,
  WorkTabs,
} from "./parts";

const StepDefinition = lazy(() => import("./definition"), "StepDefinition");

export function StepInspector(props: WorkProps<"step">) {
  const { line, bench } = props;
  const { runId, label } = line;
  const query = useQuery(useTRPC().runs.step.queryOptions({ runId, stepId: line.id }));
  const step = query.data;
  if (!step) {
    return query.isError ? (
      <Unreadable query={query} what="Could not load this step" />
    ) : (
      <InspectorSkeleton />
    );
  }
  const searchText = bench?.finder.searchText ?? "";
  return (
    <InspectorFrame
      act={<ForkButton bench={bench} line={line} />}
      intro={<TakenOver bench={bench} line={line} />}
      facts={
        <>
          {label !== line.step.key ? `iteration ${step.iteration} · ` : null}
          <LineDuration line={timesOf(line, step)} />
        </>
      }
      figures={[
        ["Started", <Moment at={step.startedAt} key="started" />],
        ["Key", step.key],
        ["Credits", formatUsed(step.credits)],
        ["Tokens", formatTokens(step.inputTokens, step.outputTokens)],
      ]}
      label={`Step ${step.number}`}
      line={line}
      status={statusOf(line, step)}
      title={
        <>
          Step {step.number} · <span className="mono">{label}</span>
          {label === step.name ? null : <span className="mono font-normal text-muted"> {step.name}</span>}
        </>
      }
    >
      {step.childRunId ? <StartedRun bench={bench} line={line} runId={step.childRunId} /> : null}
      <Notes step={step} />
      {step.reasoning ? (
        <div className="px-4 pb-3 sm:px-6">
          <h3 className="text-muted text-xs">Reasoning</h3>
          <p className="mt-0.5 max-h-48 overflow-y-auto whitespace-pre-wrap [overflow-wrap:anywhere]">
            {step.reasoning}
          </p>
        </div>
      ) : null}
      <WorkTabs
        {...props}
        tabs={[
          {
            value: "both",
            label: "Input and output",
            content: (
              <Exchange
                failure={step.errorMessage ? <ErrorText {...props} work={step} /> : null}
                key={searchText}
                runId={runId}
                searchText={searchText}
                step={step}
              />
            ),
          },
          {
            value: "definition",
            label: "Definition",
            content: <StepDefinition runId={runId} stepId={step.id} />,
          },
        ]}
        work={step}
      />
    </InspectorFrame>
  );
}

function Notes({ step }: { step: StepDetail }) {
  const notes = new Set(step.attempts.flatMap((attempt) => attempt.notes ?? []));
  return [...notes].map((note) => (
    <p className="mx-4 mb-3 rounded-md bg-waiting-wash px-3 py-2 text-waiting sm:mx-6" key={note}>
      {note}
    </p>
  ));
}

function StartedRun({ line, runId, bench }: Pick<WorkProps<"step">, "line" | "bench"> & { runId: string }) {
  const open = bench?.isOpen(line) ?? false;
  return (
    <p className="flex flex-wrap gap-x-4 px-4 pb-2 sm:px-6">
      {bench ? (
        <button
          aria-expanded={open}
          className="-my-0.5 py-0.5 text-accent underline"
          onClick={() => bench.setOpen(line, !open)}
          type="button"
        >
          {open ? "Hide its steps" : "Show its steps here"}
        </button>
      ) : null}
      <Link className="-my-0.5 py-0.5 text-accent underline" href={`/runs/${runId}`}>
        Open the run {shortId(runId)} that it started
      </Link>
    </p>
  );
}

function Exchange({
  runId,
  step,
  searchText,
  failure,
}: {
  runId: string;
  step: StepDetail;
  searchText: string;
  failure: ReactNode;
}) {
  const address = useOrganizationAddress()(`/api/runs/${runId}/text?step=${step.id}`);
  return (
    <div className="flex flex-col gap-3">
      {step.name === "http_request" ? <HttpLine step={step} /> : null}
      <StepText address={`${address}&field=input`} label="Input" text={step.input}>
        {(text, cut) => (
          <Fold long={isLong(text)} startsOpen={holds(text, searchText)} bytes={step.input.bytes}>
            {(folded) => <JsonView cut={cut} searchText={searchText} text={text} tools={!folded} />}
          </Fold>
        )}
      </StepText>
      {step.output ? (
        <StepText address={`${address}&field=output`} label="Output" text={step.output}>
          {(text, cut) => (
            <>
              {failure}
              {isOnlyError(text, step.errorMessage) ? null : (
                <JsonView cut={cut} searchText={searchText} text={text} tools />
              )}
            </>
          )}
        </StepText>
      ) : (
        <section aria-label="Output of the step">
          <h3 className="flex min-h-8 items-center text-muted text-xs">Output</h3>
          {failure ?? (
            <p className="text-faint">{step.finishedAt === null ? "No output yet" : "No output"}</p>
          )}
        </section>
      )}
    </div>
  );
}

function isOnlyError(text: string, error: string | null): boolean {
  const fields = Object.entries(parseDocument(text) ?? {});
  return (
    fields.some(([name, value]) => name === "error" && value === error) &&
    fields.every(([name]) => name === "error" || name === "code")
  );
}

function holds(text: string, searchText: string): boolean {
  return searchText.trim() !== "" && new RegExp(anyCase(searchText.trim()), "u").test(text);
}

function StepText({
  label,
  text,
  address,
  children,
}: {
  label: "Input" | "Output";
  text: PayloadPreview;
  address: string;
  children: (text: string, cut: boolean) => ReactNode;
}) {
  const payload = usePayload(text, address);
  return (
    <section aria-label={`${label} of the step`}>
      <div className="flex min-h-8 items-center gap-2 text-muted text-xs">
        <h3>{label}</h3>
        <span className="text-faint">{formatBytes(text.bytes)}</span>
        {payload.cut ? (
          <Button className="h-7" disabled={payload.loading} onClick={payload.load}>
            {payload.loading ? "Loading" : `Load all ${formatBytes(text.bytes)}`}
          </Button>
        ) : null}
        {payload.failed ? <span className="text-failed">Could not load it. Try again.</span> : null}
        <a
          aria-label={`Download the ${label.toLowerCase()}`}
          className="ml-auto py-1 hover:text-ink hover:underline"
          href={`${address}&download=1`}
        >
          Download
        </a>
        <CopyButton label={`Copy the ${label.toLowerCase()} of the step`} text={payload.read} />
      </div>
      {children(payload.text, payload.cut)}
    </section>
  );
}

function HttpLine({ step }: { step: StepDetail }) {
  const exchange = readHttpExchange(step.input.text, step.output?.text ?? null);
  if (!exchange) return null;
  const { method, url, status } = exchange;
  return (
    <p className="mono flex gap-2 rounded-md bg-surface px-3 py-2">
      <span className="min-w-0 [overflow-wrap:anywhere]">
        <span className="font-medium">{method}</span> {url}
      </span>
      <span aria-hidden="true" className="text-faint">
        →
      </span>
      <span className="sr-only">, answered with </span>
      {/* As wide as a status, so that the address does not wrap differently when it comes. */}
      <span
        className={clsx(
          "min-w-[3ch] shrink-0 font-medium",
          status !== null && status >= 400 && "text-failed",
        )}
      >
        {status ?? (step.status === "Running" ? "…" : "no answer")}
      </span>
    </p>
  );
}
