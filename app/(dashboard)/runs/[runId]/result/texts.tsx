import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { CopyButton } from "@/app/_ui/copy-button";
import { useTRPC } from "@/app/_ui/data/providers";
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
import { ReservedSpace } from "./reserved-space";

/**
 * The run's result, above it the failure if it failed, and its input. `reserve` keeps space for the output of a watched
 * run, so that nothing below moves.
 */
export function RunTexts({
  run,
  calls,
  answer,
  reserve,
  failure,
}: {
  run: RunDetail;
  calls: CallLine[];
  answer: FirstView | null;
  reserve: boolean;
  failure: ReactNode;
}) {
  const outcome = run.output ? (
    <Output first={answer} reserve={reserve} run={run} text={run.output} />
  ) : isTerminal(run.status) ? null : (
    <Coming calls={calls} run={run} />
  );
  return (
    <div className="flex min-w-0 flex-col gap-4 px-4 py-4 sm:px-6" data-arrows-scroll>
      {reserve ? null : failure}
      <Input run={run} />
      {reserve ? (
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
  const address = `/api/runs/${run.id}/text?field=input`;
  const payload = usePayload(run.input, address);
  const long = isLong(run.input.text);
  return (
    <section aria-label="Input" className="flex items-start gap-2 rounded-md bg-surface py-1.5 pr-1.5 pl-3">
      <h2 className="py-1 text-muted">Input</h2>
      <div className="min-w-0 flex-1 py-1">
        <Fold long={long} onOpen={payload.load} bytes={run.input.bytes}>
          {(folded) => <RunText folded={folded} isAnswer={false} payload={payload} run={run} />}
        </Fold>
      </div>
      <Actions address={address} long={long} name="input" read={payload.read} />
    </section>
  );
}

const LABELS = { agent: "Answer", tool: "Output" };
/** `reserve`: it is shown within the height that was reserved for it. */
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
  const address = `/api/runs/${run.id}/text?field=output`;
  const payload = usePayload(text, address);
  const label = LABELS[run.kind];
  const long = isLong(text.text, ANSWER_LIMIT);
  return (
    <section aria-label={label}>
      <div className="flex min-h-8 items-center">
        <h2 className="flex-1 font-semibold">{label}</h2>
        <Actions address={address} long={long} name={label.toLowerCase()} read={payload.read} />
      </div>
      <Fold
        height={reserve ? "max-h-36" : run.kind === "tool" ? "max-h-56" : "max-h-96"}
        long={long}
        onOpen={payload.load}
        bytes={text.bytes}
      >
        {(folded) => <RunText first={first} folded={folded} isAnswer payload={payload} run={run} />}
      </Fold>
    </section>
  );
}

/** Stands in for a result that is still to come. It shows what an agent's model is writing. */
function Coming({ run, calls }: { run: RunDetail; calls: CallLine[] }) {
  const trpc = useTRPC();
  const writing = calls.findLast(({ status }) => status === "Running");
  const call = useQuery({
    ...trpc.runs.modelCall.queryOptions({ runId: run.id, callId: writing?.id ?? "" }),
    enabled: writing !== undefined,
  });
  const text = writing ? (call.data?.content.text ?? "") : "";
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
    </section>
  );
}

function Actions({
  address,
  long,
  name,
  read,
}: {
  address: string;
  long: boolean;
  name: string;
  read: () => Promise<string>;
}) {
  return (
    <span className="flex shrink-0 items-center">
      {long ? <DownloadLink address={address} label={`Download the ${name}`} /> : null}
      <CopyButton label={`Copy the ${name}`} text={read} />
    </span>
  );
}

/** A run's output without a label, collapsed if long. */
export function OutputText({ run, text }: { run: RunDetail; text: PayloadPreview }) {
  const payload = usePayload(text, `/api/runs/${run.id}/text?field=output`);
  return (
    <Fold long={isLong(text.text)} onOpen={payload.load} bytes={text.bytes}>
      {(folded) => <RunText folded={folded} isAnswer payload={payload} run={run} />}
    </Fold>
  );
}

/** A run's text as a JSON document, Markdown or plain text. Agents get JSON from webhooks and may answer with it. */
function RunText({
  run,
  payload,
  isAnswer,
  folded,
  first,
}: {
  run: RunDetail;
  payload: { text: string; cut: boolean };
  isAnswer: boolean;
  folded: boolean;
  first?: FirstView | null;
}) {
  const { text, cut } = payload;
  const isDocument = useMemo(
    () => run.kind === "tool" || (!cut && parseDocument(text) !== undefined),
    [run.kind, text, cut],
  );
  if (isDocument) return <JsonView cut={cut} text={text} tools={!folded} />;
  if (!isAnswer) return <PlainText prose text={folded ? startOfFolded(text) : text} />;
  return <FormattedText first={first} folded={folded} text={text} />;
}

function DownloadLink({ address, label }: { address: string; label: string }) {
  return (
    <a
      aria-label={label}
      className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
      href={`${address}&download=1`}
      title={label}
    >
      <DownloadIcon />
    </a>
  );
}
