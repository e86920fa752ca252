"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Button } from "@/app/_ui/button";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { useRested } from "@/app/_ui/use-rested";
import type { ShownProblem } from "./problem-sentence";
import { RepairLink } from "./repair-links";

const PAUSE_MS = 400;

/** The problems of a tool's YAML, as the server sees them. */
export function useChecked(yaml: string) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const checked = useRested(yaml, PAUSE_MS);
  return useQuery({
    queryKey: [...trpc.definitions.checkTool.mutationKey(), checked],
    // A mutation is sent as POST: a definition is too long for a URL.
    queryFn: ({ signal }) => client.definitions.checkTool.mutate({ yaml: checked }, { signal }),
    placeholderData: keepPreviousData,
    // Each pause makes a new key; old ones are of no use.
    gcTime: 0,
  });
}

type ProblemsProps = {
  view: "form" | "yaml";
  check: ReturnType<typeof useChecked>;
  problems: readonly ShownProblem[];
  onShow: (problem: ShownProblem) => void;
  onRepair: (problem: ShownProblem) => void;
};

/** The issues of a definition, with links to their fields, and with the change that settles them if it is known. */
export function Problems({ view, check, problems, onShow, onRepair }: ProblemsProps) {
  if (check.isError) {
    return (
      <section aria-label="Problems" aria-live="polite" className="flex flex-col items-start gap-2">
        <h2 className="font-semibold">Could not check the definition</h2>
        <p className="text-failed [overflow-wrap:anywhere]">{describeError(check.error).message}</p>
        <Button disabled={check.isFetching} onClick={() => void check.refetch()}>
          Check again
        </Button>
      </section>
    );
  }
  return (
    <section aria-label="Problems" aria-live="polite">
      <h2 className="font-semibold">
        {check.isPending ? "Checking" : problems.length === 0 ? "No problems" : "Problems"}
      </h2>
      <ul className="mt-1 flex flex-col gap-1.5">
        {problems.map((problem) => (
          <li className="[overflow-wrap:anywhere]" key={`${problem.path.join("/")} ${problem.sentence}`}>
            {problem.place === "" ? null : (
              <button
                className="block min-h-6 text-left text-accent hover:underline"
                onClick={() => onShow(problem)}
                type="button"
              >
                {view === "form" && problem.path.length === 0 ? "Show it in the YAML" : problem.place}
              </button>
            )}
            {problem.sentence} <RepairLink {...{ problem, onRepair }} />
          </li>
        ))}
      </ul>
    </section>
  );
}
