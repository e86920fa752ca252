import type { Metadata } from "next";
import { CopyButton } from "@/app/_ui/copy-button";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-button";
import { ForMembers } from "@/app/_ui/role";
import { List, ListCell, ListRow, RowControl, RowName } from "@/app/_ui/table";
import { serverApi } from "@/app/request";
import { Archived } from "../../_definitions/archived";
import { ListSearch } from "../../_definitions/list-search";
import { readListView, viewLines, WeekCells, weekColumns } from "../../_definitions/week";
import { WeekListSkeleton, WeekTotal } from "../../_definitions/week-total";
import { suspended } from "../../content-page";
import { LastRunLink } from "../../last-run";
import { OperatorCommand } from "../../operator-command";

export const metadata: Metadata = { title: "Tools" };

const NEW = { label: "New tool", needs: "member", to: "/tools/new" } as const;

async function Tools({ searchParams }: PageProps<"/tools">) {
  const view = readListView(await searchParams);
  const api = await serverApi();
  const [tools, archived] = await Promise.all([
    api.catalog.tools(),
    api.definitions.archived({ kind: "tool" }),
  ]);
  const shown = viewLines(tools, view);
  return (
    <>
      <PageHead title="Tools">
        <PageButton {...NEW} otherwise="Members and above create tools." />
      </PageHead>
      {tools.length === 0 ? (
        <Empty title="No tools yet">
          <p>A tool is a list of steps that runs the same way each time.</p>
          <ForMembers>
            <PageButton {...NEW} />
            <p>Or declare it in a YAML file and apply it:</p>
            <OperatorCommand>apply tools.yaml</OperatorCommand>
          </ForMembers>
        </Empty>
      ) : (
        <>
          <WeekTotal lines={tools} />
          <ListSearch {...view} path="/tools" shown={shown.length} total={tools.length} what="tools" />
          <List
            columns={[
              ["Tool"],
              ["Description", "w-[16%] max-xl:hidden"],
              ...weekColumns("/tools", view),
              ["Last run", "w-48"],
            ]}
            label="Tools"
          >
            {shown.map((tool) => (
              <ListRow key={tool.id}>
                <ListCell area="line">
                  <RowName href={`/tools/${tool.id}`} name={tool.name} slug={tool.slug}>
                    <span className="text-faint">v{tool.version}</span>
                    <RowControl>
                      <CopyButton label={`Copy the id of ${tool.name}`} text={tool.id} />
                    </RowControl>
                  </RowName>
                </ListCell>
                <ListCell className="truncate text-muted max-xl:hidden" area="wide">
                  <span title={tool.description}>{tool.description}</span>
                </ListCell>
                <WeekCells week={tool.week} />
                <ListCell className="whitespace-nowrap" area="share">
                  <LastRunLink run={tool.lastRun} />
                </ListCell>
              </ListRow>
            ))}
          </List>
          {shown.length === 0 ? <Empty title="No tools found" /> : null}
        </>
      )}
      <Archived kind="tool" lines={archived} />
    </>
  );
}

export default suspended(
  Tools,
  <WeekListSkeleton first={["Tool", "Description"]} last="Last run" title="Tools" />,
);
