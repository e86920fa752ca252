"use client";

import { createContext, type ReactNode, use } from "react";

export type MenuItemProps = {
  onClick: () => void;
  disabled?: boolean;
  danger?: boolean;
  children: ReactNode;
};

export type MenuLinkProps = {
  href: string;
  download?: boolean;
  onClick?: () => void;
  children: ReactNode;
};

export type MenuChoiceProps<Value extends string> = {
  value: Value;
  onChange: (value: Value) => void;
  options: readonly { value: Value; label: ReactNode; icon?: ReactNode }[];
};

/** The entries of a menu. They come with its popup, whose code is loaded on demand. */
export type MenuParts = {
  Item: (props: MenuItemProps) => ReactNode;
  Link: (props: MenuLinkProps) => ReactNode;
  Choice: (props: MenuChoiceProps<string>) => ReactNode;
};

export const MenuPartsContext = createContext<MenuParts | null>(null);

export function useMenuParts(): MenuParts {
  const parts = use(MenuPartsContext);
  if (parts === null) throw new Error("A menu's entries must be inside a Menu.");
  return parts;
}
