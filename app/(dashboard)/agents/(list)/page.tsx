import type { Metadata } from "next";
import { ForMembers } from "@/app/_ui/role";
import { ListCell } from "@/app/_ui/table";
import { serverApi } from "@/app/request";
import { DefinitionList } from "../../_definitions/definition-list";
import { readListView } from "../../_definitions/week";
import { WeekListSkeleton } from "../../_definitions/week-total";
import { StarterLinks } from "../../_editor/agent/starter-links";
import { suspended } from "../../content-page";
import { OperatorCommand } from "../../operator-command";

export const metadata: Metadata = { title: "Agents" };

async function Agents({ searchParams }: PageProps<"/agents">) {
  const view = readListView(await searchParams);
  const api = await serverApi();
  const [items, archived] = await Promise.all([
    api.catalog.agents(),
    api.definitions.archived({ kind: "agent" }),
  ]);
  return (
    <DefinitionList
      about={{
        column: ["Model", "w-[14%] max-lg:hidden"],
        cell: ({ model }) => (
          <ListCell className="mono truncate text-muted" area="wide">
            {model}
          </ListCell>
        ),
      }}
      archived={archived}
      items={items}
      kind="Agent"
      view={view}
    >
      <p>An agent is a prompt, a model, and the functions and tools it may use.</p>
      <ForMembers>
        <p>Begin with one that works and change it, or with an empty form:</p>
        <StarterLinks />
        <p>Or declare it in a YAML file and apply it:</p>
        <OperatorCommand>apply agents.yaml</OperatorCommand>
      </ForMembers>
    </DefinitionList>
  );
}

export default suspended(
  Agents,
  <WeekListSkeleton first={["Agent", "Model"]} last="Last run" title="Agents" />,
);
