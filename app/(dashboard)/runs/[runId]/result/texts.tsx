"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useMemo } from "react";
import { CopyButton } from "@/app/_ui/copy-button";
import { DownloadLink } from "@/app/_ui/download-link";
import { formatBytes } from "@/app/_ui/format";
import { JsonView, parseDocument, WithRaw } from "@/app/_ui/json/view";
import { Fold, isLong, startOfFolded } from "@/app/_ui/text/fold";
import { PlainText } from "@/app/_ui/text/plain-text";
import { usePayload } from "@/app/_ui/text/use-payload";
import { isTerminal } from "@/server/contract/enums";
import type { RunDetail } from "@/server/runs/read/inspect";
import type { PayloadPreview } from "@/server/runs/read/payload-preview";
import { ReservedSpace } from "../inspector/reserved-space";

const Markdown = dynamic(() => import("@/app/_ui/text/markdown").then((module) => module.Markdown));

/**
 * The run's input and output, collapsed if long. `reserve` keeps space for the output of a watched run, so that nothing
 * below moves; a failure then takes that space.
 */
export function RunTexts({
  run,
  reserve,
  failure,
}: {
  run: RunDetail;
  reserve: boolean;
  failure: ReactNode;
}) {
  const label = run.kind === "agent" ? "Answer" : "Output";
  const outcome = run.output ? (
    <TextRow label={label} run={run} side="output" text={run.output} />
  ) : isTerminal(run.status) ? (
    failure
  ) : (
    <Row label={label}>
      <span className="text-faint">No output yet</span>
    </Row>
  );
  return (
    <div className="border-line border-t" data-arrows-scroll>
      <TextRow label="Input" run={run} side="input" text={run.input} />
      {reserve ? <ReservedSpace>{outcome}</ReservedSpace> : outcome}
    </div>
  );
}

function Row({ label, actions, children }: { label: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section
      aria-label={label}
      className="grid grid-cols-[1fr_auto] gap-x-3 px-4 py-2 sm:grid-cols-[5rem_minmax(0,1fr)_auto] sm:px-6"
    >
      <h2 className="pt-1 text-muted">{label}</h2>
      <div className="min-w-0 pt-1 max-sm:order-last max-sm:col-span-2">{children}</div>
      <div className="flex items-start">{actions}</div>
    </section>
  );
}

function TextRow({
  label,
  text,
  run,
  side,
}: {
  label: string;
  text: PayloadPreview;
  run: RunDetail;
  side: "input" | "output";
}) {
  const address = `/api/runs/${run.id}/text?field=${side}`;
  const payload = usePayload(text, address);
  const name = label.toLowerCase();
  return (
    <Row
      actions={
        <>
          {isLong(text.text) ? <DownloadLink address={address} label={`Download the ${name}`} /> : null}
          <CopyButton label={`Copy the ${name}`} text={payload.read} />
        </>
      }
      label={label}
    >
      <Fold long={isLong(text.text)} onOpen={payload.load} size={formatBytes(text.bytes)}>
        {(folded) => <RowText folded={folded} isAnswer={side === "output"} run={run} payload={payload} />}
      </Fold>
    </Row>
  );
}

/** A run's output without a label, collapsed if long. */
export function OutputText({ run, text }: { run: RunDetail; text: PayloadPreview }) {
  const payload = usePayload(text, `/api/runs/${run.id}/text?field=output`);
  return (
    <Fold long={isLong(text.text)} onOpen={payload.load} size={formatBytes(text.bytes)}>
      {(folded) => <RowText folded={folded} isAnswer run={run} payload={payload} />}
    </Fold>
  );
}

/** A run's text as a JSON document, Markdown or plain text. Agents get JSON from webhooks and may answer with it. */
function RowText({
  run,
  payload,
  isAnswer,
  folded,
}: {
  run: RunDetail;
  payload: { text: string; cut: boolean };
  isAnswer: boolean;
  folded: boolean;
}) {
  const { text, cut } = payload;
  const isDocument = useMemo(
    () => run.kind === "tool" || (!cut && parseDocument(text) !== undefined),
    [run.kind, text, cut],
  );
  if (isDocument) return <JsonView cut={cut} text={text} tools={!folded} />;
  if (!isAnswer) return <PlainText prose text={folded ? startOfFolded(text) : text} />;
  const answer = <Markdown folded={folded} text={text} />;
  return folded || !MARKED_UP.test(text) ? answer : <WithRaw text={text}>{answer}</WithRaw>;
}

/** Without these characters, Markdown looks the same as plain text. */
const MARKED_UP = /[*_`#[\]|>~]/;
