import type { Metadata } from "next";
import { ForMembers } from "@/app/_ui/role";
import { definitionListPage } from "../../_definitions/list/list-page";
import { StarterLinks } from "../../_editor/agent/starters";

export const metadata: Metadata = { title: "Agents" };

export default definitionListPage("Agent", {
  read: (api) => api.catalog.agents(),
  about: {
    head: "Model",
    width: "w-[14%]",
    area: "wide",
    look: "cut",
    cell: ({ model }) => <span className="mono">{model}</span>,
  },
  empty: (
    <>
      <p>An agent is a prompt, a model, and the functions and tools it may use.</p>
      <ForMembers>
        <p>Begin with one that works and change it, or with an empty form:</p>
        <StarterLinks />
      </ForMembers>
    </>
  ),
});
