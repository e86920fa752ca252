import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { CopyButton } from "@/app/_ui/copy-button";
import { useOrganizationAddress } from "@/app/_ui/data/page-organization";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatBytes } from "@/app/_ui/figures/format";
import { DownloadIcon } from "@/app/_ui/icons";
import { JsonView, parseDocument } from "@/app/_ui/json/view";
import { Fold } from "@/app/_ui/text/fold";
import { ANSWER_LIMIT, isLong, startOfFolded } from "@/app/_ui/text/long-text";
import type { FirstView } from "@/app/_ui/text/markdown/first-view";
import { FormattedText, MarkdownText } from "@/app/_ui/text/markdown/formatted-text";
import { PlainText } from "@/app/_ui/text/plain-text";
import { usePayload } from "@/app/_ui/text/use-payload";
import { isTerminal } from "@/server/contract/enums";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import type { CallLine } from "@/server/runs/read/inspect/lines";
import type { PayloadPreview } from "@/server/runs/read/inspect/payload-preview";
import type { Workbench } from "../use-workbench";
import { Failure } from "./failure";
import { ReservedSpace } from "./reserved-space";

/** The run's result or failure, and its input. The output of a watched run gets its space before it arrives. */
export function RunTexts({
  bench,
  calls,
  answer,
}: {
  bench: Workbench;
  calls: CallLine[];
  answer: FirstView | null;
}) {
  const { run, reservesOutput } = bench;
  const failure = run.status === "Failed" ? <Failure bench={bench} /> : null;
  const outcome = run.output ? (
    <Output first={answer} reserve={reservesOutput} run={run} text={run.output} />
  ) : isTerminal(run.status) ? (
    <Interrupted calls={calls} run={run} />
  ) : (
    <Coming calls={calls} run={run} />
  );
  return (
    <div className="flex min-w-0 flex-col gap-4 px-4 py-4 sm:px-6" data-arrows-scroll>
      {reservesOutput ? null : failure}
      <Input run={run} />
      {reservesOutput ? (
        <ReservedSpace>
          {failure}
          {outcome}
        </ReservedSpace>
      ) : (
        outcome
      )}
    </div>
  );
}

function Input({ run }: { run: RunDetail }) {
  const { content, actions } = useRunText(run, run.input, { field: "input", long: isLong(run.input.text) });
  return (
    <section aria-label="Input" className="flex items-start gap-2 rounded-md bg-surface py-1.5 pr-1.5 pl-3">
      <h2 className="py-1 text-muted">Input</h2>
      <div className="min-w-0 flex-1 py-1">{content}</div>
      {actions}
    </section>
  );
}

const LABELS = { agent: "Answer", tool: "Output" };
const HEIGHTS = { agent: "max-h-96", tool: "max-h-56" };

function Output({
  run,
  text,
  first,
  reserve,
}: {
  run: RunDetail;
  text: PayloadPreview;
  first: FirstView | null;
  reserve: boolean;
}) {
  const label = LABELS[run.kind];
  const { content, actions } = useRunText(run, text, {
    field: "output",
    long: isLong(text.text, ANSWER_LIMIT),
    height: reserve ? "max-h-36" : HEIGHTS[run.kind],
    first,
  });
  return (
    <section aria-label={label}>
      <div className="flex min-h-8 items-center">
        <h2 className="flex-1 font-semibold">{label}</h2>
        {actions}
      </div>
      {content}
    </section>
  );
}

/** A run's output without a label, collapsed if long. */
export function OutputText({ run, text }: { run: RunDetail; text: PayloadPreview }) {
  return useRunText(run, text, { field: "output", long: isLong(text.text) }).content;
}

function Coming({ run, calls }: { run: RunDetail; calls: CallLine[] }) {
  const trpc = useTRPC();
  const writing = calls.findLast((call) => isOwn(call) && call.status === "Running");
  const call = useQuery({
    ...trpc.runs.modelCall.queryOptions({ runId: run.id, callId: writing?.id ?? "" }),
    enabled: writing !== undefined,
  });
  const content = writing ? call.data?.content : undefined;
  const text = content?.text ?? "";
  const label = LABELS[run.kind];
  return (
    <section aria-label={label}>
      <h2 className="flex min-h-8 items-center gap-2 font-semibold">
        {label}
        {text ? <span className="font-normal text-muted">as it is written</span> : null}
      </h2>
      {text === "" ? (
        <p className="text-faint">Nothing yet</p>
      ) : /^\s*[[{]/.test(text) ? (
        <PlainText text={text} />
      ) : (
        <MarkdownText text={text} />
      )}
      {content?.cut ? <p className="text-muted">… {formatBytes(content.bytes)} so far</p> : null}
    </section>
  );
}

/** Returns false for calls of functions, such as generate_text, whose text is not the run's. */
const isOwn = ({ key }: CallLine) => !key.includes("/");

function Interrupted({ run, calls }: { run: RunDetail; calls: CallLine[] }) {
  const trpc = useTRPC();
  const last = calls.findLast(isOwn);
  const wanted = run.kind === "agent" && last?.status === "Failed" ? last.id : undefined;
  const call = useQuery({
    ...trpc.runs.modelCall.queryOptions({ runId: run.id, callId: wanted ?? "" }),
    enabled: wanted !== undefined,
  });
  const text = wanted === undefined ? "" : (call.data?.content.text ?? "");
  if (text === "") return null;
  return (
    <section aria-label={LABELS[run.kind]}>
      <h2 className="flex min-h-8 items-center gap-2 font-semibold">
        {LABELS[run.kind]}
        <span className="font-normal text-muted">interrupted</span>
      </h2>
      <MarkdownText text={text} />
    </section>
  );
}

function useRunText(
  run: RunDetail,
  preview: PayloadPreview,
  {
    field,
    long,
    height,
    first,
  }: { field: "input" | "output"; long: boolean; height?: string; first?: FirstView | null },
) {
  const address = useOrganizationAddress()(`/api/runs/${run.id}/text?field=${field}`);
  const { text, cut, load, read } = usePayload(preview, address);
  const isDocument = useMemo(
    () => run.kind === "tool" || (!cut && parseDocument(text) !== undefined),
    [run.kind, text, cut],
  );
  const draw = (folded: boolean) => {
    if (isDocument) return <JsonView cut={cut} text={text} tools={!folded} />;
    if (field === "input") return <PlainText prose text={folded ? startOfFolded(text) : text} />;
    return <FormattedText first={first} folded={folded} text={text} />;
  };
  const name = field === "input" ? field : LABELS[run.kind].toLowerCase();
  return {
    content: (
      <Fold bytes={preview.bytes} height={height} long={long} onOpen={load}>
        {draw}
      </Fold>
    ),
    actions: (
      <span className="flex shrink-0 items-center">
        {long ? (
          <a
            aria-label={`Download the ${name}`}
            className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
            href={`${address}&download=1`}
            title={`Download the ${name}`}
          >
            <DownloadIcon />
          </a>
        ) : null}
        <CopyButton label={`Copy the ${name}`} text={read} />
      </span>
    ),
  };
}
