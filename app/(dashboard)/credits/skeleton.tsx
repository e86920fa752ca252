import { PartHead } from "@/app/_ui/figures/facts";
import { PageHead } from "@/app/_ui/page/page";
import { FiguresSkeleton, TableSkeleton } from "@/app/_ui/page/skeletons";

export function BalanceSkeleton() {
  return (
    <FiguresSkeleton
      label="Balance"
      names={["Balance", "Used per day, last 7 days", "Days left", "Monthly grant"]}
    />
  );
}

export function Skeleton() {
  return (
    <>
      <PageHead title="Credits" />
      <BalanceSkeleton />
      <PartHead title="Ledger" />
      <TableSkeleton columns={["Entry", "Run", "Amount", "Balance", "By", "Time"]} label="Ledger" />
    </>
  );
}
