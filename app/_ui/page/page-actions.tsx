"use client";

import { type ReactNode, useEffect, useRef } from "react";
import { Button, buttonClass } from "@/app/_ui/button";
import { createStore } from "@/app/_ui/data/store";
import { PlusIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { MenuItem, MenuLink, MoreMenu } from "@/app/_ui/menu/menu";
import { useMay } from "@/app/_ui/role";
import type { MemberRole } from "@/server/base/actor";

/** An action of the current page that the palette offers: a call, a link or a download. */
export type PageAction = { label: string; icon?: ReactNode } & (
  | { run: () => void }
  | { href: string; download?: boolean }
);

const registered = new Map<object, PageAction[]>();
const offered = createStore<PageAction[]>([]);

function publish(): void {
  // A page may show the button of an action twice.
  const byLabel = new Map([...registered.values()].flat().map((action) => [action.label, action]));
  offered.set([...byLabel.values()]);
}

/** Offers actions in the palette while the component is mounted. */
export function usePageActions(actions: PageAction[]): void {
  const key = useRef<object>({});
  useEffect(() => {
    registered.set(key.current, actions);
    publish();
  });
  useEffect(() => {
    const { current } = key;
    return () => {
      registered.delete(current);
      publish();
    };
  }, []);
}

/** The actions of all mounted components, in the order they were mounted. */
export const useOfferedActions = offered.use;

type PageButtonProps = {
  label: string;
  needs: MemberRole;
  otherwise?: string;
  to: string | (() => void);
};

/**
 * The main action of a list page, also in the palette, labeled like "New trigger". "Add" is for parts of a form,
 * such as a step. `otherwise`: for roles that may not use it.
 */
export function PageButton({ label, needs, otherwise, to }: PageButtonProps) {
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

/** `short`: the label in the menu. The palette shows `label`, which makes sense without the page. */
type MenuAction = PageAction & { short?: string; danger?: boolean; disabled?: boolean };

/** A menu of further actions of a page, which the palette offers too. */
export function ActionMenu({ label, actions }: { label: string; actions: MenuAction[] }) {
  usePageActions(actions);
  return (
    <MoreMenu label={label}>
      {actions.map(({ label, short = label, icon, danger = false, disabled = false, ...action }) => {
        const content = (
          <>
            {icon ? <span className={danger ? undefined : "text-muted"}>{icon}</span> : null}
            {short}
          </>
        );
        return "run" in action ? (
          <MenuItem danger={danger} disabled={disabled} key={label} onClick={action.run}>
            {content}
          </MenuItem>
        ) : (
          <MenuLink {...action} key={label}>
            {content}
          </MenuLink>
        );
      })}
    </MoreMenu>
  );
}
