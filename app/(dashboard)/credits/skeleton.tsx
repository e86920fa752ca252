import { PartHead } from "@/app/_ui/facts";
import { PageHead } from "@/app/_ui/page";
import { FactsSkeleton, TableSkeleton } from "../../_ui/skeletons";

export function Skeleton() {
  return (
    <>
      <PageHead title="Credits" />
      <FactsSkeleton label="Balance" names={["Balance", "Held", "Monthly grant"]} />
      <PartHead title="Ledger" />
      <TableSkeleton
        columns={["No.", "Kind", "Amount", "Before", "After", "Note", "Run", "By", "Time"]}
        label="Ledger"
      />
    </>
  );
}
