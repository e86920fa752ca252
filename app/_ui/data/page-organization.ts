"use client";

import { createContext, useContext } from "react";
import { ORGANIZATION_PARAM, pageOf } from "@/server/contract/page-organization";

/** `userId`: the person who uses the page. */
export type PageOrganization = { id: string; slug: string; name: string; userId: string };

/** The organization that the page shows. The session may be in another one: the person can switch in another tab. */
export const OrganizationContext = createContext<PageOrganization>({
  id: "",
  slug: "",
  name: "",
  userId: "",
});

/** The page's `pageOf`. */
export const pageIn = ({ id, userId }: PageOrganization) => pageOf({ orgId: id, userId });

/** The address of a route under `/api/` with the page's organization, for which the server then answers or rejects. */
export function useOrganizationAddress(): (path: string) => string {
  const page = pageIn(useContext(OrganizationContext));
  return (path) => `${path}${path.includes("?") ? "&" : "?"}${ORGANIZATION_PARAM}=${page}`;
}
