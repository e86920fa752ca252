import type { Metadata } from "next";
import { Suspense } from "react";
import { CopyButton } from "@/app/_ui/copy-button";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-button";
import { List, ListCell, ListRow, RowControl, RowName } from "@/app/_ui/table";
import { serverApi } from "@/app/request";
import { Archived } from "../../_definitions/archived";
import { readSort, sortByWeek, WeekCells, weekColumns } from "../../_definitions/week";
import { LastRunLink } from "../../last-run";
import { OperatorCommand } from "../../operator-command";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "Tools" };

const NEW = { label: "New tool", needs: "member", to: "/tools/new" } as const;

async function Tools({ searchParams }: PageProps<"/tools">) {
  const sort = readSort((await searchParams).sort);
  const api = await serverApi();
  const [tools, archived] = await Promise.all([
    api.catalog.tools(),
    api.definitions.archived({ kind: "tool" }),
  ]);
  return (
    <>
      <PageHead title="Tools">
        <PageButton {...NEW} otherwise="Members and above create tools." />
      </PageHead>
      {tools.length === 0 ? (
        <Empty title="No tools yet">
          <p>A tool is a list of steps that runs the same way each time.</p>
          <PageButton {...NEW} />
          <p>Or declare it in a YAML file and apply it:</p>
          <OperatorCommand>apply tools.yaml</OperatorCommand>
        </Empty>
      ) : (
        <List
          columns={[
            ["Tool"],
            ["Description", "w-[22%] max-lg:hidden"],
            ...weekColumns("/tools", sort),
            ["Last run", "w-48 lg:w-52"],
          ]}
          label="Tools"
        >
          {sortByWeek(tools, sort).map((tool) => (
            <ListRow key={tool.id}>
              <ListCell area="line">
                <RowName href={`/tools/${tool.id}`} name={tool.name} slug={tool.slug}>
                  <span className="text-faint">v{tool.version}</span>
                  <RowControl>
                    <CopyButton label={`Copy the id of ${tool.name}`} text={tool.id} />
                  </RowControl>
                </RowName>
              </ListCell>
              <ListCell className="truncate text-muted" area="wide">
                <span title={tool.description}>{tool.description}</span>
              </ListCell>
              <WeekCells week={tool.week} />
              <ListCell className="whitespace-nowrap" area="share">
                <LastRunLink run={tool.lastRun} />
              </ListCell>
            </ListRow>
          ))}
        </List>
      )}
      <Archived kind="tool" lines={archived} />
    </>
  );
}

export default function ToolsPage(props: PageProps<"/tools">) {
  return (
    <Suspense fallback={<Skeleton />}>
      <Tools {...props} />
    </Suspense>
  );
}
