"use client";

import { formatCount, formatCredits } from "@/app/_ui/format";
import { Moment, useNow } from "@/app/_ui/time";
import { type GroupLine, type Line, lineFacts, lineId } from "../lines";
import { amountOf, fromCreditUnits, lengthOf } from "../timeline/measures";
import { Figures, Head, LineDuration } from "./parts";

/** A summary of the items of a `forEach` step, with links to the slowest and the failed ones. */
export function GroupInspector({ line, onShow }: { line: GroupLine; onShow: (line: Line) => void }) {
  const now = useNow();
  const facts = lineFacts(line);
  const failed = line.items.filter((item) => lineFacts(item).status === "Failed");
  const slowest = line.items.reduce((most, item) =>
    lengthOf(item, now) > lengthOf(most, now) ? item : most,
  );
  const tokens = amountOf(line, "tokens", now);
  return (
    <section aria-label={`Items of ${line.label}`}>
      <Head
        facts={<LineDuration line={facts} />}
        link={`/runs/${line.runId}?group=${encodeURIComponent(line.label)}`}
        status={facts.status}
        title={
          <>
            <span className="mono">{line.label}</span>{" "}
            <span className="font-normal text-muted">×{formatCount(line.items.length)}</span>
          </>
        }
      />
      <ul className="flex flex-col items-start gap-1 px-4 pb-3 sm:px-6">
        <li className="text-muted">
          slowest: <ItemLink item={slowest} onShow={onShow} />
        </li>
        {failed.slice(0, MAX_FAILED).map((item) => (
          <li className="text-failed" key={lineId(item)}>
            failed: <ItemLink item={item} onShow={onShow} /> {item.step.errorMessage}
          </li>
        ))}
        {failed.length > MAX_FAILED ? (
          <li className="text-failed">and {formatCount(failed.length - MAX_FAILED)} more</li>
        ) : null}
      </ul>
      <Figures
        facts={[
          ["Items", formatCount(line.items.length)],
          ["Failed", formatCount(failed.length)],
          ...(tokens > 0 ? [["Tokens", formatCount(tokens)] as const] : []),
          ["Credits", formatCredits(fromCreditUnits(amountOf(line, "credits", now)))],
          ["Started", <Moment at={facts.startedAt} key="started" />],
        ]}
      />
    </section>
  );
}

const MAX_FAILED = 10;

function ItemLink({ item, onShow }: { item: GroupLine["items"][number]; onShow: (line: Line) => void }) {
  return (
    <button className="mono text-accent underline" onClick={() => onShow(item)} type="button">
      {item.label}
    </button>
  );
}
