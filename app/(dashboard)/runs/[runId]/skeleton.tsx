import clsx from "clsx";
import { SkeletonLine } from "@/app/_ui/page/page";
import { DetailHeadSkeleton } from "@/app/_ui/page/skeletons";

const LINES = ["w-24", "w-32", "w-20", "w-28", "w-36", "w-24", "w-32"];

const FACTS = ["w-24", "w-20", "w-24", "w-28", "w-16", "w-12", "w-16"];

export function RunSkeleton() {
  return (
    <div aria-busy="true">
      <DetailHeadSkeleton back="Runs" />
      <div className="flex flex-col border-line border-t max-lg:flex-col-reverse">
        <div className="flex items-center gap-8 border-line px-4 max-lg:h-10 max-lg:border-t max-lg:*:invisible sm:px-6 lg:h-18 lg:border-b">
          {FACTS.map((width, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the facts are constant.
            <SkeletonLine className={width} key={index} />
          ))}
        </div>
        <div className="flex flex-col gap-4 px-4 py-4 sm:px-6">
          <p className="flex items-center gap-2 rounded-md bg-surface px-3 py-2.5 text-muted">
            Input <SkeletonLine className="w-2/3" />
          </p>
          <SkeletonLine className="w-24" />
          <SkeletonLine className="w-3/4" />
          <SkeletonLine className="w-2/3" />
        </div>
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
        <TextSkeleton
          className="px-4 py-4 max-lg:hidden sm:px-6"
          widths={["w-48", "w-full", "w-2/3", "w-3/4"]}
        />
      </div>
    </div>
  );
}

export function TextSkeleton({ className, widths }: { className?: string; widths: readonly string[] }) {
  return (
    <div aria-busy="true" className={clsx("flex flex-col gap-4", className)}>
      {widths.map((width) => (
        <SkeletonLine className={width} key={width} />
      ))}
    </div>
  );
}
