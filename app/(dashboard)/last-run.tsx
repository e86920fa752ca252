import { Status } from "@/app/_ui/figures/status";
import { Ago } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import type { LastRun } from "@/server/catalog/overview";

/** A link to the newest run: its status and time. */
export function LastRunLink({ run }: { run: LastRun | null }) {
  if (!run) return <span className="text-faint">Never run</span>;
  return (
    <Link className="relative z-10 inline-flex items-center gap-2 hover:underline" href={`/runs/${run.id}`}>
      <Status compact status={run.status} />
      <Ago at={run.createdAt} className="text-muted" />
    </Link>
  );
}
