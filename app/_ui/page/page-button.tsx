"use client";

import { Button, buttonClass } from "@/app/_ui/button";
import { PlusIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { useMay } from "@/app/_ui/role";
import type { MemberRole } from "@/server/auth/actor";

type Props = {
  label: string;
  needs: MemberRole;
  otherwise?: string;
  /** A page, or what the button does. */
  to: string | (() => void);
};

/**
 * The main act of a list page, which the palette offers too: "New trigger". The form that it opens has the same title, and
 * its submit button is "Create trigger". "Add" is for parts of a form, such as a step. `otherwise`: who may do it, for
 * those who may not.
 */
export function PageButton({ label, needs, otherwise, to }: Props) {
  const may = useMay(needs);
  const icon = <PlusIcon />;
  const act = typeof to === "string" ? { href: to } : { run: to };
  usePageActions(may ? [{ label, icon, ...act }] : []);
  if (!may) return otherwise === undefined ? null : <p className="text-muted">{otherwise}</p>;
  return typeof to === "string" ? (
    <Link className={buttonClass("primary")} href={to}>
      {icon}
      {label}
    </Link>
  ) : (
    <Button look="primary" onClick={to}>
      {icon}
      {label}
    </Button>
  );
}
