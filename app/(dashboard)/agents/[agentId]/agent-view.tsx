"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { Fact, Facts } from "@/app/_ui/facts";
import { useTRPC } from "@/app/_ui/providers";
import { CommonFacts, DefinitionHead, NameLinks } from "../../_definitions/definition-head";
import { History } from "../../_definitions/history";
import { RecentRuns } from "../../_definitions/recent-runs";
import { RunPanel } from "../../_run/run-panel";

/** The page of one agent: its definition, recent runs and versions. */
export function AgentView({ agentId }: { agentId: string }) {
  const trpc = useTRPC();
  const { data: agent } = useSuspenseQuery(trpc.definitions.agent.queryOptions({ agentId }));
  const of = { kind: "agent", id: agentId } as const;
  return (
    <article>
      <DefinitionHead kind="agent" of={agent} />
      <RunPanel
        key={agent.version}
        target={{
          kind: "agent",
          id: agent.id,
          name: agent.name,
          maxCredits: agent.maxCredits,
          active: agent.status === "active",
          parameters: null,
        }}
      />
      <Facts label="Definition">
        <Fact name="Model">
          <span className="mono">{agent.model}</span>
        </Fact>
        <Fact name="System prompt">
          {agent.systemPrompt === "" ? (
            <span className="text-muted">none</span>
          ) : (
            <pre
              className="mono max-h-80 overflow-auto whitespace-pre-wrap [overflow-wrap:anywhere]"
              // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
              tabIndex={0}
            >
              {agent.systemPrompt}
            </pre>
          )}
        </Fact>
        <Fact name="Functions">
          <NameLinks none="none" of={agent.functions.map((name) => ({ name, href: null }))} />
        </Fact>
        <Fact name="Tools">
          <NameLinks
            none="none"
            of={agent.tools.map(({ id, name, gone }) => ({
              name: gone ? `${name} (deleted)` : name,
              href: gone ? null : `/tools/${id}`,
            }))}
          />
        </Fact>
        <Fact name="Max steps">{agent.maxSteps}</Fact>
        <CommonFacts of={agent} />
      </Facts>
      <RecentRuns of={of} />
      <History current={agent.version} of={of} />
    </article>
  );
}
