"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useTRPC } from "@/app/_ui/data/providers";
import { ConfirmDialog } from "@/app/_ui/forms/form-dialog";
import { useNotify } from "@/app/_ui/toast";
import type { TriggerDetail } from "@/server/webhooks/inspect-trigger";

type Props = { trigger: TriggerDetail; onClose: () => void };

/** Confirms, then gives the trigger a new address. */
export function ReplaceAddressDialog({ trigger, onClose }: Props) {
  const trpc = useTRPC();
  const notify = useNotify();
  const replace = useMutation(
    trpc.triggers.rotateAddress.mutationOptions({
      meta: { refresh: [trpc.triggers.inspect.pathKey()] },
      onSuccess: () => {
        notify("The trigger has a new address", "Copy it into the sender's settings.");
        onClose();
      },
    }),
  );
  return (
    <ConfirmDialog
      act="Replace address"
      acting="Replacing"
      mutation={replace}
      onClose={onClose}
      onConfirm={() => replace.mutate({ id: trigger.id })}
      title={`Replace the address of ${trigger.name}`}
    >
      <p>The present address answers 404 immediately. Senders need the new one. This cannot be undone.</p>
    </ConfirmDialog>
  );
}

/** Confirms, then deletes the trigger and leads to the list. */
export function DeleteTriggerDialog({ trigger, onClose }: Props) {
  const trpc = useTRPC();
  const router = useRouter();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const remove = useMutation(
    trpc.triggers.remove.mutationOptions({
      onSuccess: async () => {
        router.push("/triggers");
        notify(`The trigger ${trigger.name} is deleted`);
        await queryClient.invalidateQueries({ queryKey: trpc.catalog.pathKey() });
      },
    }),
  );
  return (
    <ConfirmDialog
      act="Delete trigger"
      acting="Deleting"
      mutation={remove}
      onClose={onClose}
      onConfirm={() => remove.mutate({ slug: trigger.slug })}
      title={`Delete ${trigger.name}`}
    >
      <p>
        Its address answers 404 immediately, and its secrets are no longer valid. Its runs and deliveries
        stay.
      </p>
      <p className="text-muted">Disable it instead to refuse calls for a while.</p>
    </ConfirmDialog>
  );
}
