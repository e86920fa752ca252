import { useMutation } from "@tanstack/react-query";
import { useContext } from "react";
import { OrganizationContext } from "@/app/_ui/data/page-organization";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { notify } from "@/app/_ui/toast";

/**
 * Makes one of the person's organizations the session's, and shows its runs. A page of that organization stays and
 * continues.
 */
export function useSwitchOrganization() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { id: shown } = useContext(OrganizationContext);
  return useMutation(
    trpc.account.switchOrganization.mutationOptions({
      onSuccess: async (_done, { organizationId }) => {
        if (organizationId !== shown) return window.location.assign("/runs");
        // The answer shows that the session is back.
        await client.account.organizations.query();
      },
      onError: (error) => notify("Could not switch the organization", describeError(error).message),
    }),
  );
}
