"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { useState } from "react";
import { buttonClass } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { Ago, Day } from "@/app/_ui/figures/time";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { MenuItem, MoreMenu } from "@/app/_ui/menu/menu";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-button";
import { useMay } from "@/app/_ui/role";
import { List, ListCell, ListRow, RowName } from "@/app/_ui/table";
import type { KeyLine } from "@/server/catalog/overview";

const RevokeKey = lazy(() => import("./key-dialogs"), "RevokeKey");
const CreateKey = lazy(() => import("./key-dialogs"), "CreateKey");

const COLUMNS = [
  ["Key"],
  ["State", "w-40"],
  ["Permissions", "w-[18%] max-lg:hidden"],
  ["Last used", "w-30"],
  ["Expires", "w-26 max-lg:hidden"],
  ["Created", "w-[18%] max-lg:hidden"],
] as const;
const ACTIONS = ["", "w-14"] as const;

/** The organization's API keys; administrators create and revoke them here. */
export function KeysView() {
  const trpc = useTRPC();
  const mayChange = useMay("admin");
  const { data } = useSuspenseQuery(trpc.catalog.keys.queryOptions());
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<KeyLine | null>(null);
  const newKey = { label: "New API key", needs: "admin", to: () => setCreating(true) } as const;
  return (
    <>
      <PageHead title="API keys">
        <Link className={buttonClass()} href="/api-reference">
          API reference
        </Link>
        <PageButton {...newKey} otherwise="Admins and owners create and revoke keys." />
      </PageHead>
      {data.length === 0 ? (
        <Empty title="No API keys yet">
          <p>A key lets a program start and read runs. It is shown once, when it is created.</p>
          <PageButton {...newKey} />
        </Empty>
      ) : (
        <List columns={mayChange ? [...COLUMNS, ACTIONS] : COLUMNS} label="API keys">
          {data.map((key) => (
            <Row key={key.id} line={key} onRevoke={mayChange ? () => setRevoking(key) : null} />
          ))}
        </List>
      )}
      {creating ? <CreateKey onClose={() => setCreating(false)} /> : null}
      {revoking ? <RevokeKey line={revoking} onClose={() => setRevoking(null)} /> : null}
    </>
  );
}

function Row({ line: key, onRevoke }: { line: KeyLine; onRevoke: (() => void) | null }) {
  return (
    <ListRow>
      <ListCell area="line">
        <RowName href={`/runs?key=${key.id}`} name={key.name}>
          <span className="mono min-w-0 shrink-[9999] truncate text-muted">{key.prefix}…</span>
        </RowName>
      </ListCell>
      <ListCell className="whitespace-nowrap" area="share">
        <span className={clsx("capitalize", key.state !== "active" && "text-failed")}>{key.state}</span>
        {key.revokedAt ? (
          <>
            {" "}
            <Day at={key.revokedAt} className="text-muted" />
          </>
        ) : null}
      </ListCell>
      <ListCell className="text-muted first-letter:uppercase" area="wide">
        {PERMISSIONS.filter(([scope]) => key.scopes.includes(scope))
          .map(([, label]) => label)
          .join(", ")}
        {key.targets.length > 0 ? ` of ${key.targets.join(", ")}` : ""}
      </ListCell>
      <ListCell className="whitespace-nowrap text-muted" area="end">
        {key.lastUsedAt ? (
          <>
            <span className="md:hidden">used </span>
            <Ago at={key.lastUsedAt} />
          </>
        ) : (
          "Never used"
        )}
      </ListCell>
      <ListCell className="whitespace-nowrap text-muted" area="wide">
        {key.expiresAt ? <Day at={key.expiresAt} /> : "Never"}
      </ListCell>
      <ListCell className="truncate text-muted" area="wide">
        <Day at={key.createdAt} /> by {key.createdBy}
      </ListCell>
      {onRevoke ? (
        <ListCell area="action">
          {key.state === "revoked" ? null : (
            <MoreMenu label={`Actions for ${key.name}`} quiet>
              <MenuItem danger onClick={onRevoke}>
                Revoke
              </MenuItem>
            </MoreMenu>
          )}
        </ListCell>
      ) : null}
    </ListRow>
  );
}

const PERMISSIONS = [
  ["runs:read", "read runs"],
  ["runs:start", "start runs"],
] as const;
