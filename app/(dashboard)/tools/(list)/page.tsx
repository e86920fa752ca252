import type { Metadata } from "next";
import { PageButton } from "@/app/_ui/page/page-actions";
import { ForMembers } from "@/app/_ui/role";
import { definitionListPage } from "../../_definitions/list/list-page";

export const metadata: Metadata = { title: "Tools" };

export default definitionListPage("Tool", {
  read: (api) => api.catalog.tools(),
  about: {
    head: "Description",
    width: "w-[16%]",
    area: "widest",
    look: "cut",
    cell: ({ description }) => <span title={description}>{description}</span>,
  },
  empty: (
    <>
      <p>A tool is a list of steps that runs the same way each time.</p>
      <ForMembers>
        <PageButton label="New tool" needs="member" to="/tools/new" />
      </ForMembers>
    </>
  ),
});
