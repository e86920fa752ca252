import clsx from "clsx";
import { formatCount, formatPlural } from "@/app/_ui/figures/format";
import { AgentIcon, ChevronRightIcon, RunsIcon, ToolIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { errorHeadline } from "@/server/runs/read/find/error-headline";
import { rememberList } from "../last-list";
import { useExactTimes } from "../started";
import type { RunLine } from "./run-lines";
import type { Select } from "./selection";

/** By depth: below the run that called it. */
const INDENTS = ["md:pl-5", "md:pl-11", "md:pl-17", "md:pl-23"];

type RunNameProps = {
  run: RunLine;
  selected: boolean;
  onSelect: Select | undefined;
  onToggle: (run: RunLine) => void;
};

export function RunName({ run, selected, onSelect, onToggle }: RunNameProps) {
  const times = useExactTimes(run);
  const KindIcon = run.kind === "agent" ? AgentIcon : ToolIcon;
  return (
    <div
      className={clsx("flex min-w-0 items-center gap-2", INDENTS[Math.min(run.depth, INDENTS.length - 1)])}
    >
      {run.opened === null ? null : (
        <button
          aria-expanded={run.opened}
          aria-label={`${run.opened ? "Hide" : "Show"} the ${formatPlural(run.children, "child run")} of ${run.targetName}`}
          className="relative z-10 -mr-1 -ml-7 flex size-6 shrink-0 items-center justify-center rounded text-faint hover:text-ink max-md:hidden"
          data-unfold
          onClick={() => onToggle(run)}
          type="button"
        >
          <ChevronRightIcon className={clsx(run.opened && "rotate-90")} size={14} />
        </button>
      )}
      <span
        className="relative z-10 flex size-4 shrink-0 items-center justify-center"
        title={`${run.kind} run`}
      >
        <span className="sr-only">{run.kind}</span>
        <KindIcon
          className={clsx(
            "text-faint",
            onSelect && "md:group-focus-within:hidden md:group-hover:hidden",
            selected && "hidden",
          )}
        />
        {onSelect ? (
          <input
            aria-label={`Select the run of ${run.targetName}, ${run.status}`}
            checked={selected}
            className={clsx(
              "size-3.5 accent-accent max-md:hidden",
              !selected &&
                "absolute opacity-0 focus-visible:opacity-100 group-hover:opacity-100 group-focus-within:opacity-100",
            )}
            data-select
            onChange={({ target, nativeEvent }) =>
              onSelect(run.id, target.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
            }
            type="checkbox"
          />
        ) : null}
      </span>
      <Link
        className={`${run.errorPreview ? "md:max-w-[45%]" : "md:max-w-[60%]"} truncate md:shrink-0 font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus focus-visible:after:-outline-offset-2`}
        data-row={run.depth}
        title={`${run.targetName}\n${run.errorPreview ?? run.inputPreview}\n${times}`}
        onClick={() => rememberList(run.id)}
        href={`/runs/${run.id}`}
      >
        {run.targetName}
      </Link>
      {run.children > 0 ? (
        <span
          className="order-last ml-auto inline-flex shrink-0 items-center gap-1 rounded border border-line px-1.5 text-muted text-xs tabular-nums"
          title={formatPlural(run.children, "child run")}
        >
          <RunsIcon size={12} />
          {run.opened && run.shownChildren < run.children ? `${formatCount(run.shownChildren)} of ` : null}
          {formatCount(run.children)}
          <span className="sr-only">{run.children === 1 ? " child run" : " child runs"}</span>
        </span>
      ) : null}
      <Preview on="screen" run={run} />
    </div>
  );
}

type PreviewProps = { run: RunLine; on: "phone" | "screen" };

export function Preview({ run: { errorPreview, inputPreview }, on }: PreviewProps) {
  const width = on === "phone" ? "min-w-0 md:hidden" : "min-w-0 max-md:hidden";
  if (errorPreview === null) return <span className={`${width} truncate text-muted`}>{inputPreview}</span>;
  return (
    <span
      className={clsx(
        width,
        "line-clamp-2 leading-4 [overflow-wrap:anywhere]",
        on === "phone" ? "whitespace-normal" : "-my-px",
      )}
    >
      {errorHeadline(errorPreview)}
    </span>
  );
}
