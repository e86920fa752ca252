"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { ConfirmDialog } from "@/app/_ui/forms/form-dialog";
import { useNotify } from "@/app/_ui/toast";
import type { SecretSummary } from "@/server/catalog/organization/secrets";
import { UsedBy } from "../used-by";

/** Confirms, with the tools that use the secret, then removes it. */
export function RemoveSecret({ secret, onClose }: { secret: SecretSummary; onClose: () => void }) {
  const trpc = useTRPC();
  const notify = useNotify();
  const users = useQuery({ ...trpc.secrets.users.queryOptions({ name: secret.name }), staleTime: 0 });
  const remove = useMutation(
    trpc.secrets.remove.mutationOptions({
      meta: { refresh: [trpc.secrets.list.pathKey()] },
      onSuccess: () => {
        notify(`The secret ${secret.name} is removed`);
        onClose();
      },
    }),
  );
  return (
    <ConfirmDialog
      act="Remove secret"
      acting="Removing"
      loading={users.isPending}
      mutation={remove}
      onClose={onClose}
      onConfirm={() => remove.mutate({ name: secret.name })}
      title={`Remove ${secret.name}`}
    >
      <p>The value is deleted immediately and cannot be restored.</p>
      <UsedBy
        effect="Their steps that refer to it fail from then on."
        one="tool uses"
        many="tools use"
        users={users}
      />
    </ConfirmDialog>
  );
}
