import { navGroups, SYSTEM_ITEM } from "@/app/(dashboard)/nav";

/**
 * The pages of the navigation, by group, as an owner who is an operator sees them (global-setup.ts). Tests of every page
 * begin with these.
 */
export const NAVIGATION = [
  ...navGroups("owner").map(({ title, items }) => ({
    title: title ?? "first group",
    paths: items.map(({ href }): string => href),
  })),
  { title: "operators", paths: [SYSTEM_ITEM.href] },
];
export const NAV_ITEMS = navGroups("owner").flatMap(({ items }) => items);
