import { PageHead, SkeletonLine } from "@/app/_ui/page";

const FIGURES = ["Runs", "Success rate", "Failed", "Tokens", "Credits", "Duration p50", "Duration p95"];

export function Skeleton() {
  return (
    <>
      <PageHead title="Metrics" />
      <div aria-busy="true" className="border-line border-t pt-4">
        <div className="grid grid-cols-2 gap-x-6 gap-y-4 px-4 sm:grid-cols-4 sm:px-6 lg:grid-cols-7">
          {FIGURES.map((name) => (
            <div key={name}>
              <div className="text-muted">{name}</div>
              <SkeletonLine className="mt-1.5 w-16" />
            </div>
          ))}
        </div>
        <div className="mx-4 mt-12 h-44 rounded bg-surface sm:mx-6" />
      </div>
    </>
  );
}
