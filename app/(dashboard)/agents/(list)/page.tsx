import type { Metadata } from "next";
import { CopyButton } from "@/app/_ui/copy-button";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-button";
import { ForMembers } from "@/app/_ui/role";
import { Badge, List, ListCell, ListRow, RowControl, RowName } from "@/app/_ui/table";
import { serverApi } from "@/app/request";
import { Archived } from "../../_definitions/archived";
import { ListSearch } from "../../_definitions/list-search";
import { readListView, viewLines, WeekCells, weekColumns } from "../../_definitions/week";
import { WeekListSkeleton, WeekTotal } from "../../_definitions/week-total";
import { StarterLinks } from "../../_editor/agent/starter-links";
import { suspended } from "../../content-page";
import { LastRunLink } from "../../last-run";
import { OperatorCommand } from "../../operator-command";

export const metadata: Metadata = { title: "Agents" };

const NEW = { label: "New agent", needs: "member", to: "/agents/new" } as const;

async function Agents({ searchParams }: PageProps<"/agents">) {
  const view = readListView(await searchParams);
  const api = await serverApi();
  const [agents, archived] = await Promise.all([
    api.catalog.agents(),
    api.definitions.archived({ kind: "agent" }),
  ]);
  const shown = viewLines(agents, view);
  return (
    <>
      <PageHead title="Agents">
        <PageButton {...NEW} otherwise="Members and above create agents." />
      </PageHead>
      {agents.length === 0 ? (
        <Empty title="No agents yet">
          <p>An agent is a prompt, a model, and the functions and tools it may use.</p>
          <ForMembers>
            <p>Begin with one that works and change it, or with an empty form:</p>
            <StarterLinks />
            <p>Or declare it in a YAML file and apply it:</p>
            <OperatorCommand>apply agents.yaml</OperatorCommand>
          </ForMembers>
        </Empty>
      ) : (
        <>
          <WeekTotal lines={agents} />
          <ListSearch {...view} path="/agents" shown={shown.length} total={agents.length} what="agents" />
          <List
            columns={[
              ["Agent"],
              ["Model", "w-[14%] max-lg:hidden"],
              ...weekColumns("/agents", view),
              ["Last run", "w-48"],
            ]}
            label="Agents"
          >
            {shown.map((agent) => (
              <ListRow key={agent.id}>
                <ListCell area="line">
                  <RowName href={`/agents/${agent.id}`} name={agent.name} slug={agent.slug}>
                    <span className="text-faint">v{agent.version}</span>
                    {agent.status === "inactive" ? <Badge>inactive</Badge> : null}
                    <RowControl>
                      <CopyButton label={`Copy the id of ${agent.name}`} text={agent.id} />
                    </RowControl>
                  </RowName>
                </ListCell>
                <ListCell className="mono truncate text-muted" area="wide">
                  {agent.model}
                </ListCell>
                <WeekCells week={agent.week} />
                <ListCell className="whitespace-nowrap" area="share">
                  <LastRunLink run={agent.lastRun} />
                </ListCell>
              </ListRow>
            ))}
          </List>
          {shown.length === 0 ? <Empty title="No agents found" /> : null}
        </>
      )}
      <Archived kind="agent" lines={archived} />
    </>
  );
}

export default suspended(
  Agents,
  <WeekListSkeleton first={["Agent", "Model"]} last="Last run" title="Agents" />,
);
