"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { ConfirmDialog } from "@/app/_ui/forms/form-dialog";
import { useNotify } from "@/app/_ui/toast";
import type { OwnProvider } from "@/server/models/own-provider";
import { UsedBy } from "../used-by";

/** Confirms, with the agents and tools that use the provider's models, then removes it. */
export function RemoveProvider({
  provider: { name },
  onClose,
}: {
  provider: OwnProvider;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const notify = useNotify();
  const users = useQuery({ ...trpc.models.users.queryOptions({ name }), staleTime: 0 });
  const remove = useMutation(
    trpc.models.remove.mutationOptions({
      meta: { refresh: [trpc.models.list.pathKey(), trpc.definitions.choices.pathKey()] },
      onSuccess: () => {
        notify(`The model provider ${name} is removed`);
        onClose();
      },
    }),
  );
  return (
    <ConfirmDialog
      act="Remove provider"
      acting="Removing"
      loading={users.isPending}
      mutation={remove}
      onClose={onClose}
      onConfirm={() => remove.mutate({ name })}
      title={`Remove ${name}`}
    >
      <p>Runs in progress use another provider from their next call on. Its key stays under Secrets.</p>
      <UsedBy
        effect="From then on they call the service's provider, which may not have these models."
        many="agents and tools use"
        one="agent or tool uses"
        users={users}
      />
    </ConfirmDialog>
  );
}
