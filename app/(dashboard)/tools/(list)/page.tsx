import type { Metadata } from "next";
import { PageButton } from "@/app/_ui/page/page-button";
import { ForMembers } from "@/app/_ui/role";
import { ListCell } from "@/app/_ui/table";
import { serverApi } from "@/app/request";
import { DefinitionList } from "../../_definitions/definition-list";
import { readListView } from "../../_definitions/week";
import { WeekListSkeleton } from "../../_definitions/week-total";
import { suspended } from "../../content-page";
import { OperatorCommand } from "../../operator-command";

export const metadata: Metadata = { title: "Tools" };

async function Tools({ searchParams }: PageProps<"/tools">) {
  const view = readListView(await searchParams);
  const api = await serverApi();
  const [items, archived] = await Promise.all([
    api.catalog.tools(),
    api.definitions.archived({ kind: "tool" }),
  ]);
  return (
    <DefinitionList
      about={{
        column: ["Description", "w-[16%] max-xl:hidden"],
        cell: ({ description }) => (
          <ListCell className="truncate text-muted max-xl:hidden" area="wide">
            <span title={description}>{description}</span>
          </ListCell>
        ),
      }}
      archived={archived}
      items={items}
      kind="Tool"
      view={view}
    >
      <p>A tool is a list of steps that runs the same way each time.</p>
      <ForMembers>
        <PageButton label="New tool" needs="member" to="/tools/new" />
        <p>Or declare it in a YAML file and apply it:</p>
        <OperatorCommand>apply tools.yaml</OperatorCommand>
      </ForMembers>
    </DefinitionList>
  );
}

export default suspended(
  Tools,
  <WeekListSkeleton first={["Tool", "Description"]} last="Last run" title="Tools" />,
);
