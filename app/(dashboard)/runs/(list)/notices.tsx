import { Button, buttonClass } from "@/app/_ui/button";
import { Link } from "@/app/_ui/link";
import { Empty } from "@/app/_ui/page/page";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { isPlain } from "../address";
import { SEARCH_HELP } from "./filter/filter-bar";

/** Names the parts of the URL that were ignored. */
export function UnknownFilters({ parts, onDrop }: { parts: string[]; onDrop: () => void }) {
  return (
    <div
      className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-line border-t bg-waiting-wash px-4 py-2 sm:px-6"
      role="alert"
    >
      <p className="min-w-0">
        Unknown filter <span className="mono break-all">{parts.join(" and ")}</span> in the address. The list
        is shown without it.
      </p>
      <Button onClick={onDrop}>Remove it</Button>
    </div>
  );
}

export function NoRuns({ filter, onClear }: { filter: RunFilter; onClear: () => void }) {
  if (!isPlain(filter)) {
    return (
      <Empty title="No run matches these filters">
        {filter.text ? <p className="max-w-prose">{SEARCH_HELP}</p> : null}
        <Button onClick={onClear}>Clear filters</Button>
      </Empty>
    );
  }
  return (
    <Empty title="No runs yet">
      <Link className={buttonClass("primary")} href="/">
        Get started
      </Link>
      <p>
        Or start one from a program, with a call of the{" "}
        <Link className="text-accent underline" href="/api-reference">
          API reference
        </Link>
        . It appears here immediately.
      </p>
    </Empty>
  );
}
