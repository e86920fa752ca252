"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { buttonClass } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { Day } from "@/app/_ui/figures/time";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { MenuItem, MoreMenu } from "@/app/_ui/menu/menu";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-actions";
import { useMay } from "@/app/_ui/role";
import { RowName } from "@/app/_ui/row-name";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { useDialog } from "@/app/_ui/use-dialog";
import { SCOPE_TEXTS } from "@/server/base/actor";
import type { KeyLine } from "@/server/catalog/overview";
import { USAGE_COLUMNS } from "../usage-columns";
import { SCOPE_GROUPS } from "./scopes";

const RevokeKey = lazy(() => import("./key-dialogs"), "RevokeKey");
const CreateKey = lazy(() => import("./key-dialogs"), "CreateKey");

const PERMISSIONS = SCOPE_GROUPS.flatMap((group) => group.scopes);

const COLUMNS: LineColumn<KeyLine>[] = [
  {
    head: "Key",
    area: "line",
    cell: ({ id, name, prefix }) => (
      <RowName href={`/runs?key=${id}`} name={name}>
        <span className="mono min-w-0 shrink-[9999] truncate text-muted">{prefix}…</span>
      </RowName>
    ),
  },
  {
    head: "State",
    width: "w-40",
    area: "share",
    look: "line",
    cell: ({ state, revokedAt }) => (
      <>
        <span className={clsx("capitalize", state !== "active" && "text-failed")}>{state}</span>{" "}
        {revokedAt ? <Day at={revokedAt} className="text-muted" /> : null}
      </>
    ),
  },
  {
    head: "Permissions",
    width: "w-[18%]",
    area: "wide",
    cell: ({ scopes, targets }) => {
      const granted = PERMISSIONS.filter((each) => scopes.includes(each));
      const labels = granted.map((each) => SCOPE_TEXTS[each].label);
      return (
        <span className="inline-block text-muted first-letter:uppercase">
          {labels.join(", ").toLowerCase()}
          {targets.length > 0 ? ` of ${targets.join(", ")}` : ""}
        </span>
      );
    },
  },
  ...USAGE_COLUMNS,
];

export const KeysSkeleton = () => (
  <LineList columns={COLUMNS} keyOf={({ id }) => id} label="API keys" lines={null} />
);

export function KeysView() {
  const trpc = useTRPC();
  const mayChange = useMay("admin");
  const { data } = useSuspenseQuery(trpc.catalog.keys.queryOptions());
  const { dialog, open } = useDialog();
  const newKey = { label: "New API key", needs: "admin", to: () => open(<CreateKey />) } as const;
  const menuOf = (key: KeyLine) =>
    key.state === "revoked" ? null : (
      <MoreMenu label={`Actions for ${key.name}`} quiet>
        <MenuItem danger onClick={() => open(<RevokeKey line={key} />)}>
          Revoke
        </MenuItem>
      </MoreMenu>
    );
  return (
    <>
      <PageHead title="API keys">
        <Link className={buttonClass()} href="/api-reference">
          API reference
        </Link>
        <PageButton {...newKey} otherwise="Admins and owners create and revoke keys." />
      </PageHead>
      <LineList
        columns={COLUMNS}
        empty={
          <Empty title="No API keys yet">
            <p>A key lets a program start and read runs. It is shown once, when it is created.</p>
            <PageButton {...newKey} />
          </Empty>
        }
        keyOf={({ id }) => id}
        label="API keys"
        lines={data}
        menu={mayChange && menuOf}
      />
      {dialog}
    </>
  );
}
