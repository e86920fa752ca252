import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { Dialog } from "@/app/_ui/dialog";
import { Link } from "@/app/_ui/link";
import { FieldDiff } from "@/app/_ui/text/field-diff";
import { Fold } from "@/app/_ui/text/fold";
import { isLong } from "@/app/_ui/text/long-text";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { targetPath } from "../../query";
import { TextSkeleton } from "../skeleton";

/** A dialog with the frozen configuration of a run, and what has changed since. */
export function Configuration({ run, onClose }: { run: RunDetail; onClose: () => void }) {
  const title = `Configuration of this run, v${run.targetVersion}`;
  return (
    <Dialog onClose={onClose} title={title} wide>
      <Fields run={run} />
    </Dialog>
  );
}

function Fields({ run }: { run: RunDetail }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.runs.configuration.queryOptions({ runId: run.id }));
  if (query.isError) return <Unreadable query={query} what="Could not load the configuration" />;
  if (!query.data) return <TextSkeleton className="min-h-64" widths={["w-2/3", "w-full"]} />;
  const { fields, now } = query.data;
  return (
    <>
      <section aria-label="Changes since" className="flex flex-col gap-3">
        {now === null ? (
          <p className="text-muted">The {run.kind} is deleted.</p>
        ) : (
          <p>
            {now.changes.length === 0
              ? "A run started now would use the same configuration. "
              : "A run started now would differ in these fields. "}
            <Link className="text-accent underline" href={targetPath(run)}>
              Open the {run.kind}, v{now.version}
            </Link>
          </p>
        )}
        {now?.changes.map((change) => (
          <FieldDiff change={change} key={change.field} />
        ))}
      </section>
      <dl aria-label="Then" className="flex flex-col gap-3 border-line border-t pt-3">
        {fields.map(({ field, value }) => (
          <div key={field}>
            <dt className="text-muted text-xs">{field}</dt>
            <dd className="mono mt-0.5">
              <Fold long={isLong(value)} bytes={new Blob([value]).size}>
                <span className="block whitespace-pre-wrap [overflow-wrap:anywhere]">{value || "none"}</span>
              </Fold>
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
