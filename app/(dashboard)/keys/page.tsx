import type { Metadata } from "next";
import { Suspense } from "react";
import { Empty, PageHead } from "@/app/_ui/page";
import { List, ListCell, ListRow, RowName } from "@/app/_ui/table";
import { Ago, Day } from "@/app/_ui/time";
import { serverApi } from "@/app/request";
import { KEY_SCOPES } from "@/server/auth/actor";
import { OperatorCommand } from "../operator-command";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "API keys" };

const COLUMNS = [
  ["Key"],
  ["State", "w-40"],
  ["Permissions", "w-[21%] max-lg:hidden"],
  ["Last used", "w-30"],
  ["Expires", "w-28 max-lg:hidden"],
  ["Created", "w-[20%] max-lg:hidden"],
] as const;

async function Keys() {
  const keys = await (await serverApi()).catalog.keys();
  return (
    <>
      <PageHead title="API keys" />
      {keys.length === 0 ? (
        <Empty title="No API keys yet">
          <p>A key lets a program start and read runs. It is shown once, when it is created:</p>
          <OperatorCommand>keys create ORG ci</OperatorCommand>
        </Empty>
      ) : (
        <List columns={COLUMNS} label="API keys">
          {keys.map((key) => (
            <ListRow key={key.id}>
              <ListCell area="line">
                <RowName href={`/runs?key=${key.id}`} name={key.name}>
                  <span className="mono shrink-0 text-muted">{key.prefix}…</span>
                </RowName>
              </ListCell>
              <ListCell className="whitespace-nowrap" area="share">
                <span className={key.state === "active" ? undefined : "text-failed"}>{key.state}</span>
                {key.revokedAt ? (
                  <>
                    {" "}
                    <Day at={key.revokedAt} className="text-muted" />
                  </>
                ) : null}
              </ListCell>
              <ListCell className="text-muted" area="wide">
                {KEY_SCOPES.filter((scope) => key.scopes.includes(scope)).join(", ")}
                {key.targets.length > 0 ? ` of ${key.targets.join(", ")}` : ""}
              </ListCell>
              <ListCell className="whitespace-nowrap text-muted" area="end">
                {key.lastUsedAt ? (
                  <>
                    <span className="md:hidden">used </span>
                    <Ago at={key.lastUsedAt} />
                  </>
                ) : (
                  "never used"
                )}
              </ListCell>
              <ListCell className="whitespace-nowrap text-muted" area="wide">
                {key.expiresAt ? <Day at={key.expiresAt} /> : "never"}
              </ListCell>
              <ListCell className="truncate text-muted" area="wide">
                <Day at={key.createdAt} /> by {key.createdBy}
              </ListCell>
            </ListRow>
          ))}
        </List>
      )}
    </>
  );
}

export default function KeysPage() {
  return (
    <Suspense fallback={<Skeleton />}>
      <Keys />
    </Suspense>
  );
}
