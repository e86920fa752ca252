import type { ReactNode } from "react";
import { AgentIcon, ToolIcon, TriggerIcon } from "@/app/_ui/icons";
import type { AgentDetail, ToolDetail } from "@/server/catalog/inspect-definition";
import { RunPanel } from "../../_run/run-panel";
import { DefinitionHead } from "./definition-head";
import { History } from "./history";
import { RailLinks } from "./rail-links";
import { RecentRuns } from "./recent-runs";
import { WeekOf } from "./week-of";

type DefinitionViewProps = {
  of: ({ kind: "agent" } & AgentDetail) | ({ kind: "tool" } & ToolDetail);
  children: ReactNode;
};

/**
 * The page of an agent or tool: a form that runs it, then its definition beside its figures. `children` are the parts
 * of the flow.
 */
export function DefinitionView({ of, children }: DefinitionViewProps) {
  const { kind, id, name, maxCredits } = of;
  const active = of.kind === "tool" || of.status === "active";
  const parameters = of.kind === "tool" ? of.parameters : null;
  // Query keys contain the id. The definition itself may be too long for a URL.
  const reference = { kind, id };
  return (
    <article>
      <DefinitionHead
        of={of}
        users={[...of.callers, ...of.triggers.map((trigger) => ({ kind: "trigger" as const, ...trigger }))]}
      />
      <RunPanel target={{ kind, id, name, maxCredits, active, parameters }} />
      <div className="grid border-line border-t xl:grid-cols-[minmax(0,1fr)_24rem]">
        <div className="min-w-0 xl:border-line xl:border-r">
          <section aria-label="Definition" className="px-4 py-6 sm:px-6">
            <ol>{children}</ol>
          </section>
        </div>
        <div className="min-w-0 max-xl:border-line max-xl:border-t">
          <WeekOf narrow of={reference} />
          <RecentRuns of={reference} />
          <RailLinks
            links={of.triggers.map((trigger) => ({
              href: `/triggers/${trigger.id}`,
              icon: <TriggerIcon size={14} />,
              name: trigger.name,
              note: trigger.enabled ? null : "disabled",
            }))}
            title="Triggers"
          />
          <RailLinks
            links={of.callers.map((caller) => ({
              href: `/${caller.kind}s/${caller.id}`,
              icon: caller.kind === "agent" ? <AgentIcon size={14} /> : <ToolIcon size={14} />,
              name: caller.name,
            }))}
            title="Used by"
          />
        </div>
      </div>
      <History current={of.version} of={reference} />
    </article>
  );
}
