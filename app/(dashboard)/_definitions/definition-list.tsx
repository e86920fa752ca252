import type { ComponentProps, ReactNode } from "react";
import { CopyButton } from "@/app/_ui/copy-button";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-button";
import { Badge, RowControl } from "@/app/_ui/table";
import type { AgentLine, ToolLine } from "@/server/catalog/overview";
import type { ArchivedLine } from "@/server/catalog/restore";
import { LastRunLink } from "../last-run";
import { Archived } from "./archived";
import { WeekList } from "./week-list";

/** The page of all agents or tools. `children` are shown while there are none. */
export function DefinitionList<Item extends AgentLine | ToolLine>({
  kind,
  archived,
  children,
  ...list
}: Pick<ComponentProps<typeof WeekList<Item>>, "items" | "view" | "about"> & {
  kind: "Agent" | "Tool";
  archived: readonly ArchivedLine[];
  children: ReactNode;
}) {
  const name = kind === "Agent" ? "agent" : "tool";
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
      {list.items.length === 0 ? (
        <Empty title={`No ${name}s yet`}>{children}</Empty>
      ) : (
        <WeekList
          {...list}
          badges={(item) => (
            <>
              <span className="text-faint">v{item.version}</span>
              {"status" in item && item.status === "inactive" ? <Badge>inactive</Badge> : null}
              <RowControl>
                <CopyButton label={`Copy the id of ${item.name}`} text={item.id} />
              </RowControl>
            </>
          )}
          kind={kind}
          last={{ column: ["Last run", "w-48"], content: (item) => <LastRunLink run={item.lastRun} /> }}
        />
      )}
      <Archived kind={name} lines={archived} />
    </>
  );
}
