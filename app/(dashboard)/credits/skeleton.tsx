import { PartHead } from "@/app/_ui/figures/facts";
import { Figure, Figures } from "@/app/_ui/figures/figures";
import { PageHead, SkeletonLine } from "@/app/_ui/page/page";
import { TableSkeleton } from "@/app/_ui/page/skeletons";

export function Skeleton() {
  return (
    <>
      <PageHead title="Credits" />
      <Figures label="Balance">
        {["Balance", "Used per day, last 7 days", "Days left", "Monthly grant"].map((name) => (
          <Figure
            key={name}
            name={name}
            note={<SkeletonLine className="w-32" />}
            value={<SkeletonLine className="w-24" />}
          />
        ))}
      </Figures>
      <PartHead title="Ledger" />
      <TableSkeleton columns={["Entry", "Run", "Amount", "Balance", "By", "Time"]} label="Ledger" />
    </>
  );
}
