"use client";

import { createContext, useContext } from "react";
import { ORGANIZATION_PARAM } from "@/server/contract/page-organization";

export type PageOrganization = { id: string; slug: string; name: string };

/** The organization that the page shows. The session may be in another one: the person can switch in another tab. */
export const OrganizationContext = createContext<PageOrganization>({ id: "", slug: "", name: "" });

/** The address of a route under `/api/` with the page's organization, for which the server then answers or rejects. */
export function useOrganizationAddress(): (path: string) => string {
  const { id } = useContext(OrganizationContext);
  return (path) => `${path}${path.includes("?") ? "&" : "?"}${ORGANIZATION_PARAM}=${id}`;
}
