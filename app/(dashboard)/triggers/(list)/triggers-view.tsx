"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { Ago } from "@/app/_ui/figures/time";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-button";
import { Badge, List, ListCell, ListRow, RowName } from "@/app/_ui/table";
import type { LastCall, TriggerLine } from "@/server/catalog/overview";
import { ListSearch } from "../../_definitions/list-search";
import { type ListView, viewLines, WeekCells, weekColumns } from "../../_definitions/week";
import { WeekTotal } from "../../_definitions/week-total";
import { OutcomeMark } from "../outcome";

const TriggerForm = lazy(() => import("../_form/trigger-form"), "TriggerForm");

/** The organization's triggers; members create them here. */
export function TriggersView({ view }: { view: ListView }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.catalog.triggers.queryOptions());
  const shown = viewLines(data, view);
  const [creating, setCreating] = useState(false);
  const newTrigger = { label: "New trigger", needs: "member", to: () => setCreating(true) } as const;
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
        <>
          <WeekTotal lines={data} />
          <ListSearch {...view} path="/triggers" shown={shown.length} total={data.length} what="triggers" />
          <List
            columns={[
              ["Trigger"],
              ["Starts", "w-[18%] max-lg:hidden"],
              ...weekColumns("/triggers", view),
              ["Last call", "w-46"],
            ]}
            label="Triggers"
          >
            {shown.map((trigger) => (
              <Row key={trigger.id} trigger={trigger} />
            ))}
          </List>
          {shown.length === 0 ? <Empty title="No triggers found" /> : null}
        </>
      )}
      {creating ? <TriggerForm onClose={() => setCreating(false)} /> : null}
    </>
  );
}

function Row({ trigger }: { trigger: TriggerLine }) {
  return (
    <ListRow>
      <ListCell area="line">
        <RowName href={`/triggers/${trigger.id}`} name={trigger.name} slug={trigger.slug}>
          {trigger.enabled ? null : <Badge>disabled</Badge>}
        </RowName>
      </ListCell>
      <ListCell className="truncate md:max-lg:hidden" area="line">
        <span className="text-muted capitalize">{trigger.target.kind}</span> {trigger.target.name}
        {trigger.target.gone ? <span className="text-failed"> (deleted: calls are refused)</span> : null}
      </ListCell>
      <WeekCells week={trigger.week} />
      <ListCell className="whitespace-nowrap" area="share">
        <LastCallLink call={trigger.lastCall} triggerId={trigger.id} />
      </ListCell>
    </ListRow>
  );
}

/** The newest delivery of a trigger, as a link. Its newest run would not show rejected calls. */
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
