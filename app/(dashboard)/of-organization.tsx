"use client";

import { useRouter } from "next/navigation";
import { type ReactNode, useContext, useEffect } from "react";
import { OrganizationContext, pageIn } from "@/app/_ui/data/page-organization";
import { useTRPCClient } from "@/app/_ui/data/providers";

/**
 * Content that the server rendered for the organization and person of `page`. A link may fetch it into a page of others,
 * because the session has changed: then the content is not shown.
 */
export function OfOrganization({ page, children }: { page: string; children: ReactNode }) {
  const client = useTRPCClient();
  const router = useRouter();
  const isOther = pageIn(useContext(OrganizationContext)) !== page;
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
