"use client";

import clsx from "clsx";
import { useContext } from "react";
import { SignOutIcon } from "@/app/_ui/icons";
import { Menu, MenuChoice, MenuHeading, MenuItem, MenuLink, MenuSeparator } from "@/app/_ui/menu/menu";
import { RoleContext } from "@/app/_ui/role";
import { signOut } from "@/app/_ui/sign-out";
import { type Folded, foldedClasses } from "./folded";
import { ROLE_LABELS } from "./members/roles";
import { ACCOUNT_ITEM } from "./nav";
import { THEMES, useTheme } from "./theme";

export function PersonMenu({
  user,
  folded,
  onGo,
}: {
  user: { name: string; email: string };
  folded: Folded;
  onGo: () => void;
}) {
  const { theme, onTheme } = useTheme();
  const { label, beside } = foldedClasses(folded);
  const role = ROLE_LABELS[useContext(RoleContext)];
  return (
    <Menu
      align="start"
      trigger={
        <>
          <span
            aria-hidden="true"
            className="flex size-6 shrink-0 items-center justify-center rounded-full bg-accent-wash font-medium text-accent text-xs uppercase"
          >
            {user.name.slice(0, 1)}
          </span>
          <span className={clsx("min-w-0 flex-1 truncate", label)}>
            <span className="sr-only">Signed in as </span>
            {user.name}
          </span>
          <span className={clsx("text-muted text-xs", beside)}>{role}</span>
        </>
      }
      triggerClass="flex h-9 w-full min-w-0 items-center gap-2 rounded-md px-1.5 text-left hover:bg-hover"
    >
      <MenuHeading>{user.email}</MenuHeading>
      <MenuLink href={ACCOUNT_ITEM.href} onClick={onGo}>
        <ACCOUNT_ITEM.Icon className="text-muted" />
        Account
      </MenuLink>
      <MenuSeparator />
      <MenuHeading>Theme</MenuHeading>
      <MenuChoice onChange={onTheme} options={THEMES} value={theme} />
      <MenuSeparator />
      <MenuItem onClick={() => void signOut()}>
        <SignOutIcon className="text-muted" />
        Sign out
      </MenuItem>
    </Menu>
  );
}
