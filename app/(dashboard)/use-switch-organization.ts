import { useMutation } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { notify } from "@/app/_ui/toast";

/** Makes another of the person's organizations the active one, and shows its runs. */
export function useSwitchOrganization() {
  const trpc = useTRPC();
  return useMutation(
    trpc.account.switchOrganization.mutationOptions({
      onSuccess: () => window.location.assign("/runs"),
      onError: (error) => notify("Could not switch the organization", describeError(error).message),
    }),
  );
}
