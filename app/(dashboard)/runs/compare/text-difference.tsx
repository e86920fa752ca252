import { useDeferredValue, useMemo } from "react";
import { Button } from "@/app/_ui/button";
import { useOrganizationAddress } from "@/app/_ui/data/page-organization";
import { formatBytes, formatCount } from "@/app/_ui/figures/format";
import { readableText } from "@/app/_ui/json/spacing";
import { type DiffLine, diffLines, MAX_CHANGES, nearChanges } from "@/app/_ui/text/diff";
import { DiffLines } from "@/app/_ui/text/diff-lines";
import { usePayload } from "@/app/_ui/text/use-payload";
import { isTerminal } from "@/server/contract/enums";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";

type Field = "input" | "output";
const LABELS = { input: "Input", output: "Output" };

const ALL_SHOWN = 300;

const MAX_ALONE = 300;

/**
 * The inputs or outputs of two runs, compared by lines: first the starts of long texts, completely on request (up
 * to 4 MiB).
 */
export function TextDifference({ field, left, right }: { field: Field; left: RunDetail; right: RunDetail }) {
  const a = useSide(left, field);
  const b = useSide(right, field);
  const difference = useDifference(a.compared, b.compared);
  const cut = a.compared.cut || b.compared.cut;
  const missing = [a.missing && `left ${a.missing}`, b.missing && `right ${b.missing}`].filter(Boolean);
  return (
    <section aria-label={LABELS[field]} className="border-line border-b px-4 py-3 sm:px-6">
      <h2 className="pb-1 font-semibold">
        {LABELS[field]}
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
          {a.failed || b.failed ? <span className="text-failed">Could not load them. Try again.</span> : null}
        </div>
      ) : null}
      {difference === "too many" ? (
        <p className="text-muted">
          They differ in more than {formatCount(MAX_CHANGES)} lines, too many to show here.
        </p>
      ) : difference === "same" ? null : (
        <DiffLines label={`Differences of the ${field}`} lines={difference} words={WORDS} />
      )}
    </section>
  );
}

const WORDS = { left: "only left", right: "only right" };

type Side = { text: string; cut: boolean; isThere: boolean };

function useSide(run: RunDetail, field: Field) {
  const preview = run[field];
  const address = useOrganizationAddress()(`/api/runs/${run.id}/text?field=${field}`);
  const { text, cut, ...loading } = usePayload(preview ?? { text: "", bytes: 0, cut: false }, address);
  const isThere = preview !== null;
  return {
    ...loading,
    compared: useMemo<Side>(() => ({ text, cut, isThere }), [text, cut, isThere]),
    bytes: preview?.bytes ?? 0,
    missing: isThere ? null : isTerminal(run.status) ? `has no ${field}` : "has none yet",
  };
}

/**
 * Pass the same objects while nothing changes. Returns the earlier difference until the new one is known, so that
 * the page stays responsive.
 */
function useDifference(left: Side, right: Side) {
  const [a, b] = [useDeferredValue(left), useDeferredValue(right)];
  return useMemo(() => {
    const difference = compare(a, b);
    const isLong = typeof difference !== "string" && difference.length > ALL_SHOWN;
    return isLong ? nearChanges(difference) : difference;
  }, [a, b]);
}

function compare(left: Side, right: Side): "same" | "too many" | DiffLine[] {
  if (left.text === right.text) return "same";
  const [a, b] = [readableText(left.text, left.cut), readableText(right.text, right.cut)];
  if (!left.isThere) return alone("right", b);
  if (!right.isThere) return alone("left", a);
  return a === b ? "same" : (diffLines(a, b) ?? "too many");
}

function alone(kind: "left" | "right", text: string): DiffLine[] {
  const lines = text.split("\n", MAX_ALONE + 1).map((line): DiffLine => ({ kind, text: line }));
  if (lines.length > MAX_ALONE) lines.splice(MAX_ALONE, 1, { kind: "same", text: "…" });
  return lines;
}
