"use client";

import { useRouter } from "next/navigation";
import { type ReactNode, useContext, useEffect } from "react";
import { OrganizationContext } from "@/app/_ui/data/page-organization";
import { useTRPCClient } from "@/app/_ui/data/providers";

/**
 * Content that the server rendered for the organization `id`. A link may fetch it into a page of another organization,
 * because the session has switched: then the content is not shown.
 */
export function OfOrganization({ id, children }: { id: string; children: ReactNode }) {
  const client = useTRPCClient();
  const router = useRouter();
  const isOther = useContext(OrganizationContext).id !== id;
  useEffect(() => {
    if (!isOther) return;
    // If the call is rejected, the bar appears. Else the session is back, and the content is rendered again.
    client.account.organizations.query().then(
      () => router.refresh(),
      () => {},
    );
  }, [isOther, client, router]);
  return isOther ? null : children;
}
