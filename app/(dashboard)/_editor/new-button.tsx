"use client";

import { buttonClass } from "@/app/_ui/button";
import { PlusIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { usePageActions } from "@/app/_ui/page-actions";
import { useMay } from "@/app/_ui/role";

/** Leads to the editor of a new agent or tool; absent for those who may not make one. */
export function NewButton({ kind }: { kind: "agent" | "tool" }) {
  const mayEdit = useMay("member");
  const href = `/${kind}s/new`;
  usePageActions(mayEdit ? [{ label: `New ${kind}`, icon: <PlusIcon />, href }] : []);
  if (!mayEdit) return null;
  return (
    <Link className={buttonClass("primary")} href={href}>
      <PlusIcon />
      New {kind}
    </Link>
  );
}
