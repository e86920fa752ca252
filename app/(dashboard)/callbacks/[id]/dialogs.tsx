"use client";

import { useRouter } from "next/navigation";
import { OneTimeValue } from "@/app/_ui/copy-button";
import { useTRPC } from "@/app/_ui/data/providers";
import { DoneDialog } from "@/app/_ui/dialog";
import { Moment } from "@/app/_ui/figures/time";
import { OptionField } from "@/app/_ui/forms/form";
import { ConfirmDialog, FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import type { CallbackDetail } from "@/server/catalog/callbacks/list-callbacks";

/** In seconds. */
const OVERLAPS = [
  { value: "0", label: "Stops signing immediately" },
  { value: "3600", label: "Also signs for an hour" },
  { value: "86400", label: "Also signs for a day" },
  { value: "604800", label: "Also signs for a week" },
];

/** Generates a new secret and shows it once. */
export function RotateSecretDialog({ callback }: { callback: CallbackDetail }) {
  const trpc = useTRPC();
  const form = useForm(trpc.callbacks.rotateSecret.mutationOptions(), {
    draft: { overlapSeconds: "86400" },
    labels: { "/overlapSeconds": "The current secret" },
    refresh: [trpc.callbacks],
  });
  if (form.result) {
    const { secret, earlierUntil } = form.result;
    return (
      <DoneDialog sticky title="Rotate the secret" wide>
        <OneTimeValue
          label="Secret"
          value={secret}
          warning="Copy it now into the receiver's settings. It is not shown again."
        />
        {earlierUntil === null ? null : (
          <p className="text-muted">
            The previous secret also signs until <Moment at={earlierUntil} />.
          </p>
        )}
      </DoneDialog>
    );
  }
  return (
    <FormDialog
      {...form.dialog}
      act="Generate a secret"
      acting="Generating"
      onSubmit={() => form.send({ id: callback.id, overlapSeconds: Number(form.draft.overlapSeconds) })}
      title="Rotate the secret"
    >
      <OptionField
        {...form.field("overlapSeconds")}
        hint="Meanwhile each event has two signatures, and receivers accept either."
        options={OVERLAPS}
      />
    </FormDialog>
  );
}

export function DeleteCallbackDialog({ callback }: { callback: CallbackDetail }) {
  const trpc = useTRPC();
  const router = useRouter();
  const form = useForm(trpc.callbacks.remove.mutationOptions(), {
    draft: {},
    refresh: [trpc.callbacks.list, trpc.callbacks.deliveries],
    done: () => {
      router.push("/callbacks");
      return `The callback ${callback.name} is deleted`;
    },
  });
  return (
    <ConfirmDialog
      {...form.dialog}
      act="Delete callback"
      acting="Deleting"
      onConfirm={() => form.send({ id: callback.id })}
      title={`Delete ${callback.name}`}
    >
      <p>It gets no more events. Waiting events are dropped. This cannot be undone.</p>
      <p className="text-muted">Disable it instead to pause it.</p>
    </ConfirmDialog>
  );
}
