import { PageHead } from "@/app/_ui/page/page";
import { FiguresSkeleton } from "@/app/_ui/page/skeletons";

const FIGURES = ["Runs", "Success rate", "Duration p50", "Duration p95", "Tokens", "Credits"];

export function Skeleton() {
  return (
    <>
      <PageHead title="Metrics" />
      <FiguresSkeleton label="Key figures" names={FIGURES} />
      <div className="mx-4 mt-12 h-44 rounded bg-surface sm:mx-6" />
    </>
  );
}
