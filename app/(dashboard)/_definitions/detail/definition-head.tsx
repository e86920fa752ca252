"use client";

import { useState } from "react";
import { buttonClass } from "@/app/_ui/button";
import { CopyButton } from "@/app/_ui/copy-button";
import { EditIcon } from "@/app/_ui/icons";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { DetailHead } from "@/app/_ui/page/page";
import { ActionMenu, usePageActions } from "@/app/_ui/page/page-actions";
import { useMay } from "@/app/_ui/role";
import { Badge } from "@/app/_ui/row-name";
import type { DefinitionRef } from "@/server/catalog/definition-rows";
import type { User } from "../../used-by";
import { useArchive } from "../use-archive";

const ArchiveDialog = lazy(() => import("./archive-dialog"), "ArchiveDialog");

type DefinitionHeadProps = {
  of: DefinitionRef & { name: string; slug: string; version: number; status?: "active" | "inactive" };
  users: User[];
};

export function DefinitionHead({ of, users }: DefinitionHeadProps) {
  const { kind, id, name } = of;
  return (
    <DetailHead back={{ href: `/${kind}s`, label: kind === "agent" ? "Agents" : "Tools" }} title={of.name}>
      {of.slug === of.name ? null : (
        <span className="mono text-muted [overflow-wrap:anywhere]">{of.slug}</span>
      )}
      <span className="flex items-center gap-2">
        <span className="text-muted">v{of.version}</span>
        {of.status === "inactive" ? <Badge>inactive</Badge> : null}
        <CopyButton label={`Copy the id of ${of.name}`} text={of.id} />
      </span>
      <HeadActions of={{ kind, id, name }} users={users} />
    </DetailHead>
  );
}

function HeadActions({ of, users }: { of: DefinitionRef & { name: string }; users: User[] }) {
  const page = `/${of.kind}s/${of.id}`;
  const mayEdit = useMay("member");
  const [confirming, setConfirming] = useState(false);
  const asks = users.length > 0;
  const archive = useArchive(of, { asks, onClose: () => setConfirming(false) });
  usePageActions(mayEdit ? [{ label: "Edit", icon: <EditIcon />, href: `${page}/edit` }] : []);
  if (!mayEdit) return null;
  return (
    <span className="ml-auto flex items-center gap-2">
      <Link className={buttonClass()} href={`${page}/edit`}>
        <EditIcon />
        Edit
      </Link>
      <ActionMenu
        actions={[
          { label: "Duplicate", href: `${page}/copy` },
          {
            label: "Archive",
            disabled: archive.dialog.mutation.isPending,
            run: () => (asks ? setConfirming(true) : archive.send(of)),
          },
        ]}
        label={`More for ${of.name}`}
      />
      {confirming ? <ArchiveDialog form={archive} of={of} users={users} /> : null}
    </span>
  );
}
