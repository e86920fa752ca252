"use client";

import { type ReactNode, useContext, useEffect } from "react";
import { noteOtherOrganization } from "@/app/_ui/data/connection";
import { OrganizationContext } from "@/app/_ui/data/page-organization";

/**
 * Content that the server rendered for the organization `id`. A link may fetch it into a page of another organization,
 * because the session has switched: then the content is not shown.
 */
export function OfOrganization({ id, children }: { id: string; children: ReactNode }) {
  const isOther = useContext(OrganizationContext).id !== id;
  useEffect(() => {
    if (isOther) noteOtherOrganization(id);
  }, [isOther, id]);
  return isOther ? null : children;
}
