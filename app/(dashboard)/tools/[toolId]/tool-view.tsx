"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { Fact, Facts, PartHead } from "@/app/_ui/facts";
import { formatPlural } from "@/app/_ui/format";
import { JsonView } from "@/app/_ui/json/view";
import { useTRPC } from "@/app/_ui/providers";
import type { ToolDetail } from "@/server/catalog/inspect-definition";
import { retryPolicyOf } from "@/server/workflow/definition";
import { CommonFacts, DefinitionHead, NameLinks } from "../../_definitions/definition-head";
import { History } from "../../_definitions/history";
import { RecentRuns } from "../../_definitions/recent-runs";
import { RunPanel } from "../../_run/run-panel";

/** The page of one tool: its parameters, steps and output, recent runs and versions. */
export function ToolView({ toolId }: { toolId: string }) {
  const trpc = useTRPC();
  const { data: tool } = useSuspenseQuery(trpc.definitions.tool.queryOptions({ toolId }));
  const of = { kind: "tool", id: toolId } as const;
  return (
    <article>
      <DefinitionHead kind="tool" of={tool} />
      <RunPanel
        key={tool.version}
        target={{
          kind: "tool",
          id: tool.id,
          name: tool.name,
          maxCredits: tool.maxCredits,
          active: true,
          parameters: tool.parameters,
        }}
      />
      <Facts label="Definition">
        <Fact name="Description">{tool.description || <span className="text-muted">none</span>}</Fact>
        <Fact name="Parameters">
          <JsonView text={tool.parameters} />
        </Fact>
        <Fact name="Output">
          {tool.output === null ? (
            <span className="text-muted">the last step's output</span>
          ) : (
            <JsonView text={tool.output} />
          )}
        </Fact>
        <Fact name="Output schema">
          {tool.outputSchema === null ? (
            <span className="text-muted">inferred from the output</span>
          ) : (
            <JsonView text={tool.outputSchema} />
          )}
        </Fact>
        <Fact name="Agents">
          <NameLinks
            none="not used by any agent"
            of={tool.agents.map(({ id, name }) => ({ name, href: `/agents/${id}` }))}
          />
        </Fact>
        <CommonFacts of={tool} />
      </Facts>
      <Steps steps={tool.steps} />
      <RecentRuns of={of} />
      <History current={tool.version} of={of} />
    </article>
  );
}

function Steps({ steps }: { steps: ToolDetail["steps"] }) {
  return (
    <section aria-label="Steps">
      <PartHead title="Steps" />
      <ol className="border-line border-t">
        {steps.map((step, index) => (
          <li className="border-line border-b px-4 py-2 sm:px-6" key={step.id}>
            <p className="flex flex-wrap items-baseline gap-x-2">
              <span className="text-faint">{index + 1}</span>
              <span className="mono font-medium">{step.id}</span>
              <span className="mono text-muted">{step.uses ?? "parallel"}</span>
            </p>
            <Rules step={step} />
            <div className="mt-1 pl-4">
              <JsonView text={JSON.stringify(step.parallel ?? step.with)} />
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The condition, repetition and limits of a step, if the definition has them. */
function Rules({ step }: { step: ToolDetail["steps"][number] }) {
  const rules = [
    step.if === undefined ? null : `if ${step.if}`,
    step.forEach === undefined ? null : `for each ${step.as ?? "item"} of ${step.forEach}`,
    step.concurrency === undefined ? null : `${step.concurrency} at once`,
    step.retries === undefined ? null : formatPlural(retryPolicyOf(step.retries).count, "retry", "retries"),
    step.timeoutMs === undefined ? null : `at most ${step.timeoutMs} ms`,
    step.onError === "continue" ? "continues after an error" : null,
  ].filter((rule) => rule !== null);
  if (rules.length === 0) return null;
  return <p className="mono pl-4 text-muted [overflow-wrap:anywhere]">{rules.join(" · ")}</p>;
}
