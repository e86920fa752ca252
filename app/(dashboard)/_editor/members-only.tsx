"use client";

import { type ReactNode, useContext } from "react";
import { buttonClass } from "@/app/_ui/button";
import { Link } from "@/app/_ui/link";
import { DetailHead, Empty } from "@/app/_ui/page/page";
import { RoleContext, useMay } from "@/app/_ui/role";
import { ROLE_LABELS } from "@/app/(dashboard)/members/roles";

/** An editor for those who may save. Others see why there is none. */
export function MembersOnly({
  kind,
  title,
  children,
}: {
  kind: "agent" | "tool";
  /** The title of the page without the editor. */
  title: string;
  children: ReactNode;
}) {
  const role = ROLE_LABELS[useContext(RoleContext)];
  if (useMay("member")) return children;
  const list = kind === "agent" ? { href: "/agents", label: "Agents" } : { href: "/tools", label: "Tools" };
  return (
    <>
      <DetailHead back={list} className="border-line border-b" title={title} />
      <Empty title={`Only members and above create and edit ${kind}s`}>
        <p>Your role here is {role}. An owner can change it.</p>
        <Link className={buttonClass("primary")} href={list.href}>
          Go to {list.label.toLowerCase()}
        </Link>
      </Empty>
    </>
  );
}
