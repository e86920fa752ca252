"use client";

import { useMemo } from "react";
import { Button } from "@/app/_ui/button";
import { formatBytes, formatCount } from "@/app/_ui/figures/format";
import { type DiffLine, MAX_CHANGES, nearChanges } from "@/app/_ui/text/diff";
import { DiffLines } from "@/app/_ui/text/diff-lines";
import { usePayload } from "@/app/_ui/text/use-payload";
import { isTerminal } from "@/server/contract/enums";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { type Side, useDifference } from "./use-difference";

/** Longer comparisons show only the lines near a change. */
const ALL_SHOWN = 300;

/**
 * The inputs or outputs of two runs, compared by lines. Long texts are first compared by their starts, completely on
 * request; the service bounds them to 4 MiB.
 */
export function TextDifference({
  label,
  left,
  right,
  side,
}: {
  label: string;
  left: RunDetail;
  right: RunDetail;
  side: "input" | "output";
}) {
  const a = useSide(left, side);
  const b = useSide(right, side);
  const difference = useDifference(a.compared, b.compared);
  const cut = a.compared.cut || b.compared.cut;
  const missing = [
    ...(a.compared.isThere ? [] : [`left ${a.nothing}`]),
    ...(b.compared.isThere ? [] : [`right ${b.nothing}`]),
  ];
  return (
    <section aria-label={label} className="border-line border-b px-4 py-3 sm:px-6">
      <h2 className="pb-1 font-semibold">
        {label}
        <span className="font-normal text-muted">
          {missing.length > 0
            ? `: ${missing.join(", ")}`
            : difference === "same"
              ? `: the ${cut ? "starts are the " : ""}same`
              : null}
        </span>
      </h2>
      {cut ? (
        <div className="flex flex-wrap items-center gap-3 pb-2 text-muted">
          <span>Only the first {formatCount(32_768)} characters are compared.</span>
          <Button
            className="h-7"
            disabled={a.loading || b.loading}
            onClick={() => {
              a.load();
              b.load();
            }}
          >
            {a.loading || b.loading
              ? "Loading"
              : `Compare all of both: ${formatBytes(a.bytes)}, ${formatBytes(b.bytes)}`}
          </Button>
          {a.failed || b.failed ? (
            <span className="text-failed">They could not be read. Try again.</span>
          ) : null}
        </div>
      ) : null}
      {difference === "too many" ? (
        <p className="text-muted">
          They differ in more than {formatCount(MAX_CHANGES)} lines, too many to show here.
        </p>
      ) : difference === "same" ? null : (
        <Lines label={`Differences of the ${label.toLowerCase()}`} lines={difference} />
      )}
    </section>
  );
}

/** One run's text as far as loaded; "" for none. */
function useSide(run: RunDetail, side: "input" | "output") {
  const preview = run[side];
  const address = `/api/runs/${run.id}/text?field=${side}`;
  const { text, cut, ...loading } = usePayload(preview ?? { text: "", bytes: 0, cut: false }, address);
  const isThere = preview !== null;
  return {
    ...loading,
    compared: useMemo<Side>(() => ({ text, cut, isThere }), [text, cut, isThere]),
    bytes: preview?.bytes ?? 0,
    nothing: isTerminal(run.status) ? `has no ${side}` : "has none yet",
  };
}

const WORDS = { left: "only left", right: "only right" };

function Lines({ lines, label }: { lines: DiffLine[]; label: string }) {
  const shown = useMemo(() => (lines.length > ALL_SHOWN ? nearChanges(lines) : lines), [lines]);
  return <DiffLines label={label} lines={shown} words={WORDS} />;
}
