"use client";

import { formatCount, formatUsed, NONE } from "@/app/_ui/figures/format";
import { Moment, useNow } from "@/app/_ui/figures/time";
import { type GroupLine, type Line, lineFacts, lineId } from "../lines";
import { amountOf, fromCreditUnits, lengthOf } from "../timeline/measures";
import { Figures, Head, LineDuration } from "./parts";

/** A summary of the items of a `forEach` step, with links to the slowest and the failed ones. */
export function GroupInspector({ line, onShow }: { line: GroupLine; onShow: (line: Line) => void }) {
  const now = useNow();
  const facts = lineFacts(line);
  const failed = line.items.filter((item) => lineFacts(item).status === "Failed");
  const tolerated = line.items.filter((item) => lineFacts(item).status === "Tolerated");
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
        <Failures className="text-failed" items={failed} onShow={onShow} word="failed" />
        <Failures className="text-waiting" items={tolerated} onShow={onShow} word="tolerated" />
      </ul>
      <Figures
        facts={[
          ["Items", formatCount(line.items.length)],
          ["Failed", failed.length === 0 ? NONE : formatCount(failed.length)],
          ...(tolerated.length > 0 ? [["Tolerated", formatCount(tolerated.length)] as const] : []),
          ...(tokens > 0 ? [["Tokens", formatCount(tokens)] as const] : []),
          ["Credits", formatUsed(fromCreditUnits(amountOf(line, "credits", now)))],
          ["Started", <Moment at={facts.startedAt} key="started" />],
        ]}
      />
    </section>
  );
}

const MAX_SHOWN = 10;

type Items = GroupLine["items"];

function Failures({
  items,
  word,
  className,
  onShow,
}: {
  items: Items;
  word: string;
  className: string;
  onShow: (line: Line) => void;
}) {
  return (
    <>
      {items.slice(0, MAX_SHOWN).map((item) => (
        <li className={className} key={lineId(item)}>
          {word}: <ItemLink item={item} onShow={onShow} /> {item.step.errorMessage}
        </li>
      ))}
      {items.length > MAX_SHOWN ? (
        <li className={className}>and {formatCount(items.length - MAX_SHOWN)} more</li>
      ) : null}
    </>
  );
}

function ItemLink({ item, onShow }: { item: Items[number]; onShow: (line: Line) => void }) {
  return (
    <button className="mono text-accent underline" onClick={() => onShow(item)} type="button">
      {item.label}
    </button>
  );
}
