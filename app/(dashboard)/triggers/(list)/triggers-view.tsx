"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { Ago } from "@/app/_ui/figures/time";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-actions";
import { Badge } from "@/app/_ui/row-name";
import { useDialog } from "@/app/_ui/use-dialog";
import type { LastCall } from "@/server/catalog/overview";
import type { ListView } from "../../_definitions/list/columns";
import { WeekList } from "../../_definitions/list/week-list";
import { OutcomeMark } from "../outcome";

const TriggerForm = lazy(() => import("../_form/trigger-form"), "TriggerForm");

export function TriggersView({ view }: { view: ListView }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.catalog.triggers.queryOptions());
  const { dialog, open } = useDialog();
  const newTrigger = { label: "New trigger", needs: "member", to: () => open(<TriggerForm />) } as const;
  return (
    <>
      <PageHead title="Triggers">
        <PageButton {...newTrigger} otherwise="Members and above create triggers." />
      </PageHead>
      {data.length === 0 ? (
        <Empty title="No triggers yet">
          <p>A trigger is a webhook address that starts runs of one agent or tool.</p>
          <PageButton {...newTrigger} />
        </Empty>
      ) : (
        <WeekList
          about={{
            head: "Starts",
            width: "w-[18%]",
            area: "lineOrWide",
            cell: ({ target: { kind, name, gone } }) => (
              <span className="block truncate">
                <span className="text-muted capitalize">{kind}</span> {name}
                {gone ? <span className="text-failed"> (deleted: calls are rejected)</span> : null}
              </span>
            ),
          }}
          badges={({ enabled }) => (enabled ? null : <Badge>disabled</Badge>)}
          items={data}
          kind="Trigger"
          last={{
            head: "Last call",
            width: "w-56",
            area: "share",
            look: "line",
            cell: ({ id, lastCall }) => <LastCallLink call={lastCall} triggerId={id} />,
          }}
          view={view}
        />
      )}
      {dialog}
    </>
  );
}

function LastCallLink({ call, triggerId }: { call: LastCall | null; triggerId: string }) {
  if (!call) return <span className="text-faint">Never called</span>;
  return (
    <Link
      className="relative z-10 inline-flex items-center gap-2 hover:underline"
      href={`/triggers/${triggerId}?delivery=${call.id}`}
    >
      <OutcomeMark compact outcome={call.outcome} />
      <Ago at={call.receivedAt} className="text-muted" />
    </Link>
  );
}
