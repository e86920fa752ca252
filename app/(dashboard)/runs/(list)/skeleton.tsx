import { PageHead, SkeletonLine } from "@/app/_ui/page/page";
import { TableSkeleton } from "@/app/_ui/page/skeletons";

export function Skeleton() {
  return (
    <>
      <PageHead title="Runs" />
      <div className="px-4 pb-3 sm:px-6">
        <div className="flex h-8 w-full items-center rounded-md border border-line px-2 sm:w-72">
          <SkeletonLine className="w-40" />
        </div>
      </div>
      <TableSkeleton
        columns={["Run", "Status", "Started by", "Started", "Duration", "Tokens", "Credits"]}
        label="Runs"
      />
    </>
  );
}
