import { navGroups } from "@/app/(dashboard)/nav";

/** The pages of the navigation, by group, as an owner sees them. Tests of every page begin with these. */
export const NAVIGATION = navGroups("owner").map(({ title, items }) => ({
  title: title ?? "first group",
  paths: items.map(({ href }): string => href),
}));
export const NAV_ITEMS = navGroups("owner").flatMap(({ items }) => items);
