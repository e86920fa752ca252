import { DetailHeadSkeleton, LinesSkeleton } from "@/app/_ui/page/skeletons";

/** The head, the field of a run, and the two columns below it. */
export function DefinitionSkeleton({ back }: { back: "Agents" | "Tools" }) {
  return (
    <>
      <DetailHeadSkeleton back={back} />
      <div className="h-51 border-line border-t bg-surface lg:w-108 lg:border-r" />
      <div className="grid border-line border-t xl:grid-cols-[minmax(0,1fr)_24rem]">
        <LinesSkeleton />
        <div className="max-xl:hidden xl:border-line xl:border-l">
          <LinesSkeleton />
        </div>
      </div>
    </>
  );
}
