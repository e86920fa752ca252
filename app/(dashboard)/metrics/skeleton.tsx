import { Figure, Figures } from "@/app/_ui/figures/figures";
import { PageHead, SkeletonLine } from "@/app/_ui/page/page";

const FIGURES = ["Runs", "Success rate", "Duration p50", "Duration p95", "Tokens", "Credits"];

export function Skeleton() {
  return (
    <>
      <PageHead title="Metrics" />
      <div aria-busy="true">
        <Figures label="Key figures">
          {FIGURES.map((name) => (
            <Figure
              key={name}
              name={name}
              note={<SkeletonLine className="my-2 w-12" />}
              value={<SkeletonLine className="w-16" />}
            />
          ))}
        </Figures>
        <div className="mx-4 mt-12 h-44 rounded bg-surface sm:mx-6" />
      </div>
    </>
  );
}
