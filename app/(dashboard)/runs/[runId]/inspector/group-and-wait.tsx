import { useNow } from "@/app/_ui/data/clock";
import { formatCount, formatUsed, NONE } from "@/app/_ui/figures/format";
import { Moment } from "@/app/_ui/figures/time";
import type { GroupLine, WaitLine } from "../lines";
import { amountOf, fromCreditUnits, lengthOf } from "../measures";
import type { Workbench } from "../use-workbench";
import { InspectorFrame, LineDuration } from "./parts";

/** The reason and time of a run's wait for a slot. */
export function WaitInspector({ line }: { line: WaitLine }) {
  const { reason, startedAt, finishedAt } = line;
  const isOpen = finishedAt === null;
  return (
    <InspectorFrame
      facts={<LineDuration line={line} />}
      figures={[
        ["From", <Moment at={startedAt} key="from" />],
        ["To", isOpen ? NONE : <Moment at={finishedAt} key="to" />],
      ]}
      intro={
        <p className="max-w-prose px-4 pb-3 text-muted sm:px-6">
          {reason === "queue"
            ? "The run was queued until a slot was free. The plan limits how many runs of an organization execute at once, and organizations take turns."
            : "The run yielded its slot between two calls: to another organization's run, or because large runs left too little memory. It continues when a slot is free. No step is repeated."}
        </p>
      }
      label="Wait"
      line={line}
      status={isOpen ? "Running" : null}
      title={reason === "queue" ? "Queued" : isOpen ? "Waiting for a slot" : "Waited for a slot"}
    />
  );
}

const MAX_SHOWN = 10;

/** A summary of the items of a `forEach` step, with links to the slowest and the failed ones. */
export function GroupInspector({ line, bench }: { line: GroupLine; bench: Workbench | undefined }) {
  const now = useNow();
  const { items, label } = line;
  const failed = items.filter(({ status }) => status === "Failed");
  const tolerated = items.filter(({ status }) => status === "Tolerated");
  const slowest = items.reduce((most, item) => (lengthOf(item, now) > lengthOf(most, now) ? item : most));
  const tokens = amountOf(line, "tokens", now);

  const link = (item: (typeof items)[number]) => (
    <button
      className="mono -my-1 py-1 text-accent underline"
      onClick={() => bench?.choose(item)}
      type="button"
    >
      {item.label}
    </button>
  );
  const failures = (word: string, className: string, of: typeof items) => (
    <>
      {of.slice(0, MAX_SHOWN).map((item) => (
        <li className={className} key={item.id}>
          {word}: {link(item)} {item.step.errorMessage}
        </li>
      ))}
      {of.length > MAX_SHOWN ? (
        <li className={className}>and {formatCount(of.length - MAX_SHOWN)} more</li>
      ) : null}
    </>
  );
  return (
    <InspectorFrame
      facts={<LineDuration line={line} />}
      figures={[
        ["Items", formatCount(items.length)],
        ["Failed", failed.length === 0 ? NONE : formatCount(failed.length)],
        ...(tolerated.length > 0 ? [["Tolerated", formatCount(tolerated.length)] as const] : []),
        ...(tokens > 0 ? [["Tokens", formatCount(tokens)] as const] : []),
        ["Credits", formatUsed(fromCreditUnits(amountOf(line, "credits", now)))],
        ["Started", <Moment at={line.startedAt} key="started" />],
      ]}
      intro={
        <ul className="flex flex-col items-start gap-1 px-4 pb-3 sm:px-6">
          <li className="text-muted">slowest: {link(slowest)}</li>
          {failures("failed", "text-failed", failed)}
          {failures("tolerated", "text-waiting", tolerated)}
        </ul>
      }
      label={`Items of ${label}`}
      line={line}
      status={line.status}
      title={
        <>
          <span className="mono">{label}</span>{" "}
          <span className="font-normal text-muted">×{formatCount(items.length)}</span>
        </>
      }
    />
  );
}
