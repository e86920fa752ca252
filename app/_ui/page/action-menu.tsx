"use client";

import { MenuItem, MenuLink, MoreMenu } from "@/app/_ui/menu/menu";
import { type PageAction, usePageActions } from "./page-actions";

/** `short`: the label in the menu, whose page shows the rest. */
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
