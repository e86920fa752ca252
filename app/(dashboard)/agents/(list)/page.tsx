import type { Metadata } from "next";
import { ForMembers } from "@/app/_ui/role";
import { ListCell } from "@/app/_ui/table";
import { definitionListPage } from "../../_definitions/definition-list";
import { StarterLinks } from "../../_editor/agent/starter-links";
import { OperatorCommand } from "../../operator-command";

export const metadata: Metadata = { title: "Agents" };

export default definitionListPage("Agent", {
  read: (api) => api.catalog.agents(),
  about: {
    column: ["Model", "w-[14%] max-lg:hidden"],
    cell: ({ model }) => (
      <ListCell className="mono truncate text-muted" area="wide">
        {model}
      </ListCell>
    ),
  },
  empty: (
    <>
      <p>An agent is a prompt, a model, and the functions and tools it may use.</p>
      <ForMembers>
        <p>Begin with one that works and change it, or with an empty form:</p>
        <StarterLinks />
        <p>Or declare it in a YAML file and apply it:</p>
        <OperatorCommand>apply agents.yaml</OperatorCommand>
      </ForMembers>
    </>
  ),
});
