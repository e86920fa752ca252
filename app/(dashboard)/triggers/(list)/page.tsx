import type { Metadata } from "next";
import { Suspense } from "react";
import { Link } from "@/app/_ui/link";
import { Empty, PageHead } from "@/app/_ui/page";
import { Badge, List, ListCell, ListRow, RowName } from "@/app/_ui/table";
import { Ago } from "@/app/_ui/time";
import { serverApi } from "@/app/request";
import type { LastCall } from "@/server/catalog/overview";
import { LastRunLink } from "../../last-run";
import { OperatorCommand } from "../../operator-command";
import { OutcomeMark } from "../outcome";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "Triggers" };

const COLUMNS = [
  ["Trigger"],
  ["Starts", "w-[18%]"],
  ["Signature", "w-24 max-lg:hidden"],
  ["Limit", "w-26 max-lg:hidden"],
  ["Last call", "w-46"],
  ["Last run", "w-52 max-lg:hidden"],
] as const;

async function Triggers() {
  const triggers = await (await serverApi()).catalog.triggers();
  return (
    <>
      <PageHead title="Triggers" />
      {triggers.length === 0 ? (
        <Empty title="No triggers yet">
          <p>
            A trigger is a webhook address that starts runs of one agent or tool. Declare one in a YAML file,
            such as those in <span className="mono">examples/</span>, and apply it:
          </p>
          <OperatorCommand>apply triggers.yaml</OperatorCommand>
        </Empty>
      ) : (
        <List columns={COLUMNS} label="Triggers">
          {triggers.map((trigger) => (
            <ListRow key={trigger.id}>
              <ListCell area="line">
                <RowName href={`/triggers/${trigger.id}`} name={trigger.name} slug={trigger.slug}>
                  {trigger.enabled ? null : <Badge>disabled</Badge>}
                </RowName>
              </ListCell>
              <ListCell className="truncate" area="share">
                <span className="text-muted">{trigger.target.kind}</span> {trigger.target.name}
                {trigger.target.gone ? (
                  <span className="text-failed"> (deleted: calls are refused)</span>
                ) : null}
              </ListCell>
              <ListCell className="text-muted" area="wide">
                {trigger.signed ? "required" : "none"}
              </ListCell>
              <ListCell className="whitespace-nowrap text-muted" area="wide">
                {trigger.rateLimit.requests} per {trigger.rateLimit.seconds} s
              </ListCell>
              <ListCell className="whitespace-nowrap" area="end">
                <LastCallLink call={trigger.lastCall} triggerId={trigger.id} />
              </ListCell>
              <ListCell className="whitespace-nowrap" area="wide">
                <LastRunLink run={trigger.lastRun} />
              </ListCell>
            </ListRow>
          ))}
        </List>
      )}
    </>
  );
}

/** The newest delivery of a trigger, as a link. Its newest run would not show rejected calls. */
function LastCallLink({ call, triggerId }: { call: LastCall | null; triggerId: string }) {
  if (!call) return <span className="text-faint">never called</span>;
  return (
    <Link
      className="relative z-10 inline-flex items-center gap-2 hover:underline"
      href={`/triggers/${triggerId}?delivery=${call.id}`}
    >
      <OutcomeMark outcome={call.outcome} />
      <Ago at={call.receivedAt} className="text-muted" />
    </Link>
  );
}

export default function TriggersPage() {
  return (
    <Suspense fallback={<Skeleton />}>
      <Triggers />
    </Suspense>
  );
}
