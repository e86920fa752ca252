import { SkeletonLine } from "@/app/_ui/page";
import { DetailHeadSkeleton } from "@/app/_ui/skeletons";

const LINES = ["w-24", "w-32", "w-20", "w-28", "w-36", "w-24", "w-32"];

/** The skeleton of a run's page: head, texts, timeline and inspector. */
export function RunSkeleton() {
  return (
    <div aria-busy="true">
      <DetailHeadSkeleton back="Runs" />
      <div className="px-4 pb-3 sm:px-6">
        <SkeletonLine className="w-72 max-w-full" />
      </div>
      <div className="border-line border-t">
        {["Input", "Answer"].map((label) => (
          <div
            className="grid grid-cols-[5rem_minmax(0,1fr)] gap-x-3 px-4 py-3 text-muted sm:px-6"
            key={label}
          >
            {label}
            <SkeletonLine className="mt-1 w-2/3" />
          </div>
        ))}
      </div>
      <div className="border-line border-t lg:grid lg:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]">
        <div className="border-line py-4 max-lg:border-b lg:border-r">
          {LINES.map((width, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows are constant.
            <div className="flex h-9 items-center gap-4 px-4 sm:px-6" key={index}>
              <SkeletonLine className={width} />
              <SkeletonLine className="flex-1" />
            </div>
          ))}
        </div>
        <div className="flex flex-col gap-4 px-4 py-4 max-lg:hidden sm:px-6">
          <SkeletonLine className="w-48" />
          <SkeletonLine className="w-full" />
          <SkeletonLine className="w-2/3" />
          <SkeletonLine className="w-3/4" />
        </div>
      </div>
    </div>
  );
}
