import type { Metadata } from "next";
import { Command, Empty, PageHead } from "@/app/_ui/page";
import { Badge, List, ListCell, ListRow, RowName } from "@/app/_ui/table";
import { serverApi } from "@/app/request";
import { LastRunLink } from "../../last-run";

export const metadata: Metadata = { title: "Triggers" };

const COLUMNS = [
  ["Trigger"],
  ["Starts", "w-[24%]"],
  ["Signature", "w-28 max-lg:hidden"],
  ["Limit", "w-32 max-lg:hidden"],
  ["Last run", "w-52"],
] as const;

export default async function TriggersPage() {
  const triggers = await (await serverApi()).catalog.triggers();
  return (
    <>
      <PageHead title="Triggers" />
      {triggers.length === 0 ? (
        <Empty title="No triggers yet">
          <p>
            A trigger is a webhook address that starts runs of one agent or tool. Declare one in YAML and
            apply it:
          </p>
          <Command>npm run -s stepwell -- apply triggers.yaml</Command>
        </Empty>
      ) : (
        <List columns={COLUMNS} label="Triggers">
          {triggers.map((trigger) => (
            <ListRow key={trigger.id}>
              <ListCell place="line">
                <RowName href={`/triggers/${trigger.id}`} name={trigger.name} slug={trigger.slug}>
                  {trigger.enabled ? null : <Badge>disabled</Badge>}
                </RowName>
              </ListCell>
              <ListCell className="truncate" place="share">
                <span className="text-muted">{trigger.target.kind}</span> {trigger.target.name}
                {trigger.target.gone ? (
                  <span className="text-failed"> (deleted: calls are refused)</span>
                ) : null}
              </ListCell>
              <ListCell className="text-muted" place="wide">
                {trigger.signed ? "required" : "none"}
              </ListCell>
              <ListCell className="whitespace-nowrap text-muted" place="wide">
                {trigger.rateLimit.requests} per {trigger.rateLimit.seconds} s
              </ListCell>
              <ListCell className="whitespace-nowrap" place="end">
                <LastRunLink run={trigger.lastRun} />
              </ListCell>
            </ListRow>
          ))}
        </List>
      )}
    </>
  );
}
