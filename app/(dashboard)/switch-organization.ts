import type { useTRPCClient } from "@/app/_ui/data/providers";

/** Makes another of the person's organizations the active one, and shows its runs. */
export async function switchOrganization(
  client: ReturnType<typeof useTRPCClient>,
  organizationId: string,
): Promise<void> {
  await client.account.switchOrganization.mutate({ organizationId });
  window.location.assign("/runs");
}
