import { useQuery } from "@tanstack/react-query";
import { CopyButton } from "@/app/_ui/copy-button";
import { useTRPC } from "@/app/_ui/data/providers";
import { Unreadable } from "@/app/_ui/text/unreadable";
import { TextSkeleton } from "../skeleton";

/** The part of the run's version that a step executes, as YAML. */
export function StepDefinition({ runId, stepId }: { runId: string; stepId: string }) {
  const query = useQuery(useTRPC().runs.stepDefinition.queryOptions({ runId, stepId }));
  if (query.isError) return <Unreadable query={query} what="Could not load the definition" />;
  if (!query.data) return <TextSkeleton widths={["w-1/3", "w-2/3"]} />;
  const { yaml } = query.data;
  if (yaml === null) return <p className="text-faint">The run's version has no such function or tool.</p>;
  return (
    <div className="relative">
      <span className="absolute top-0 right-0">
        <CopyButton label="Copy the definition of the step" text={async () => yaml} />
      </span>
      <pre className="mono whitespace-pre-wrap pr-8 [overflow-wrap:anywhere]">{yaml}</pre>
    </div>
  );
}
