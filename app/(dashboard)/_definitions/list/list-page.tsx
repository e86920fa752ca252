import type { ReactNode } from "react";
import { CopyButton } from "@/app/_ui/copy-button";
import { Status } from "@/app/_ui/figures/status";
import { Ago } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-actions";
import { Badge, RowControl } from "@/app/_ui/row-name";
import type { LineColumn } from "@/app/_ui/table";
import { serverApi } from "@/app/request";
import type { AgentLine, LastRun, ToolLine } from "@/server/catalog/overview";
import { suspended } from "../../content-page";
import { Archived } from "./archived";
import { readListView } from "./columns";
import { WeekList } from "./week-list";
import { WeekListSkeleton } from "./week-total";

type ListPage<Item extends AgentLine | ToolLine> = {
  read: (api: Awaited<ReturnType<typeof serverApi>>) => Promise<Item[]>;
  about: LineColumn<Item>;
  empty: ReactNode;
};

export function definitionListPage<Item extends AgentLine | ToolLine>(
  kind: "Agent" | "Tool",
  { read, about, empty }: ListPage<Item>,
) {
  const name = kind === "Agent" ? "agent" : "tool";
  async function Definitions({ searchParams }: PageProps<"/agents" | "/tools">) {
    const view = readListView(await searchParams);
    const api = await serverApi();
    const [items, archived] = await Promise.all([read(api), api.definitions.archived({ kind: name })]);
    return (
      <>
        <PageHead title={`${kind}s`}>
          <PageButton
            label={`New ${name}`}
            needs="member"
            otherwise={`Members and above create ${name}s.`}
            to={`/${name}s/new`}
          />
        </PageHead>
        {items.length === 0 ? (
          <Empty title={`No ${name}s yet`}>{empty}</Empty>
        ) : (
          <WeekList
            about={about}
            badges={(item) => (
              <>
                <span className="text-faint">v{item.version}</span>
                {"status" in item && item.status === "inactive" ? <Badge>inactive</Badge> : null}
                <RowControl>
                  <CopyButton label={`Copy the id of ${item.name}`} text={item.id} />
                </RowControl>
              </>
            )}
            items={items}
            kind={kind}
            last={{
              head: "Last run",
              width: "w-56",
              area: "share",
              look: "line",
              cell: (item) => <LastRunLink run={item.lastRun} />,
            }}
            view={view}
          />
        )}
        <Archived kind={name} lines={archived} />
      </>
    );
  }
  return suspended(
    Definitions,
    <WeekListSkeleton first={[kind, about.head]} last="Last run" title={`${kind}s`} />,
  );
}

function LastRunLink({ run }: { run: LastRun | null }) {
  if (!run) return <span className="text-faint">Never run</span>;
  return (
    <Link className="relative z-10 inline-flex items-center gap-2 hover:underline" href={`/runs/${run.id}`}>
      <Status compact status={run.status} />
      <Ago at={run.createdAt} className="text-muted" />
    </Link>
  );
}
