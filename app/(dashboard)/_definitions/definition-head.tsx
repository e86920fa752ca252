"use client";

import dynamic from "next/dynamic";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { buttonClass, MORE_CLASS } from "@/app/_ui/button";
import { CopyButton } from "@/app/_ui/copy-button";
import { EditIcon, MoreIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { Menu, MenuItem } from "@/app/_ui/menu/menu";
import { DetailHead } from "@/app/_ui/page/page";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { useMay } from "@/app/_ui/role";
import type { DefinitionRef } from "@/server/catalog/versions";
import type { User } from "../used-by";
import { useArchive } from "./use-definition-acts";

const ArchiveDialog = dynamic(() => import("./archive-dialog").then((part) => part.ArchiveDialog), {
  ssr: false,
});

/** The head of an agent's or tool's page, with the link back to its list. */
export function DefinitionHead({
  kind,
  of,
  users,
}: {
  kind: DefinitionRef["kind"];
  /** What calls or starts it. */
  users: User[];
  of: { id: string; name: string; slug: string; version: number; status?: "active" | "inactive" };
}) {
  return (
    <DetailHead back={{ href: `/${kind}s`, label: kind === "agent" ? "Agents" : "Tools" }} title={of.name}>
      {of.slug === of.name ? null : (
        <span className="mono text-muted [overflow-wrap:anywhere]">{of.slug}</span>
      )}
      <span className="flex items-center gap-2">
        <span className="text-muted">v{of.version}</span>
        {of.status === "inactive" ? (
          <span className="rounded border border-line-strong px-1.5 text-muted text-xs">inactive</span>
        ) : null}
        <CopyButton label={`Copy the id of ${of.name}`} text={of.id} />
      </span>
      <Acts of={{ kind, id: of.id, name: of.name }} users={users} />
    </DetailHead>
  );
}

/**
 * Edit, duplicate and archive; absent for those who may not. What nothing uses is archived immediately, because it can be
 * undone.
 */
function Acts({ of, users }: { of: DefinitionRef & { name: string }; users: User[] }) {
  const page = `/${of.kind}s/${of.id}`;
  const mayEdit = useMay("member");
  const router = useRouter();
  const archive = useArchive();
  const [confirming, setConfirming] = useState(false);
  const acts = [
    { label: "Duplicate", run: () => router.push(`${page}/copy`) },
    { label: "Archive", run: () => (users.length > 0 ? setConfirming(true) : archive.mutate(of)) },
  ];
  usePageActions(mayEdit ? [{ label: "Edit", icon: <EditIcon />, href: `${page}/edit` }, ...acts] : []);
  if (!mayEdit) return null;
  return (
    <span className="ml-auto flex items-center gap-2">
      <Link className={buttonClass()} href={`${page}/edit`}>
        <EditIcon />
        Edit
      </Link>
      <Menu label={`More for ${of.name}`} trigger={<MoreIcon />} triggerClass={MORE_CLASS}>
        {acts.map(({ label, run }) => (
          <MenuItem disabled={archive.isPending} key={label} onClick={run}>
            {label}
          </MenuItem>
        ))}
      </Menu>
      {confirming ? (
        <ArchiveDialog
          archive={archive}
          of={of}
          onClose={() => setConfirming(false)}
          onConfirm={() => archive.mutate(of)}
          users={users}
        />
      ) : null}
    </span>
  );
}
