import type { Path } from "../tool-document";
import type { ShownProblem } from "./problem-sentence";

type RepairLinkProps = { problem: ShownProblem; onRepair: (problem: ShownProblem) => void };

/** The change that settles a problem; nothing if there is none. */
export function RepairLink({ problem, onRepair }: RepairLinkProps) {
  const { repair, place } = problem;
  if (repair === undefined) return null;
  return (
    <button
      aria-label={`${repair.label} (${place})`}
      className="min-h-6 text-accent underline underline-offset-2 hover:no-underline"
      onClick={() => onRepair(problem)}
      type="button"
    >
      {repair.label}
    </button>
  );
}

type RepairLinksProps = Pick<RepairLinkProps, "onRepair"> & { problems: readonly ShownProblem[]; at: Path };

/** The changes that settle the problems of the value at a path, below its field. */
export function RepairLinks({ problems, at, onRepair }: RepairLinksProps) {
  const found = problems.filter(({ path }) => at.every((key, index) => path[index] === key));
  return (
    <div className="flex flex-wrap gap-x-3 text-xs empty:hidden">
      {found.map((problem) => (
        <RepairLink key={`${problem.path.join("/")} ${problem.sentence}`} {...{ problem, onRepair }} />
      ))}
    </div>
  );
}
