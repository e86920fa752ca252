"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { Dialog, DialogActions } from "@/app/_ui/dialog";
import { Moment } from "@/app/_ui/figures/time";
import { SelectField, TextareaField } from "@/app/_ui/forms/form";
import { ConfirmDialog, FormDialog } from "@/app/_ui/forms/form-dialog";
import { OneTimeValue } from "@/app/_ui/forms/one-time-value";
import { Link } from "@/app/_ui/link";
import { useNotify } from "@/app/_ui/toast";
import type { TriggerDetail } from "@/server/webhooks/inspect-trigger";

/** The dialogs of a trigger's actions, except the one that edits it. */

type Props = { trigger: TriggerDetail; onClose: () => void };

/** Sends a signed call to the trigger and shows what a sender would get. */
export function TestCallDialog({ trigger, onClose }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [body, setBody] = useState(trigger.exampleBody);
  const send = useMutation(
    trpc.triggers.sendTest.mutationOptions({
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.triggers.deliveries.pathKey() }),
    }),
  );
  return (
    <FormDialog
      act="Send"
      acting="Sending"
      mutation={send}
      dismiss={send.data ? "Done" : "Cancel"}
      onClose={onClose}
      onSubmit={() => send.mutate({ triggerId: trigger.id, body })}
      title="Send a test call"
      wide
    >
      <TextareaField
        hint={`Sent as JSON${trigger.secrets.length > 0 ? ", signed with the newest secret" : ""}. It starts a run of ${trigger.target.name}, which uses credits.`}
        label="Body"
        maxLength={100_000}
        onChange={setBody}
        value={body}
      />
      <div aria-live="polite">
        {send.data ? (
          send.data.problem ? (
            <p className="rounded-md bg-failed-wash px-2.5 py-2 text-failed [overflow-wrap:anywhere]">
              Refused with status {send.data.status}: {send.data.problem.message}{" "}
              <span className="mono">{send.data.problem.code}</span>
            </p>
          ) : (
            <p className="rounded-md border border-line bg-surface px-2.5 py-2">
              Accepted with status {send.data.status}.{" "}
              <Link className="text-accent underline" href={`/runs/${send.data.runId}`}>
                Open the run
              </Link>
            </p>
          )
        ) : null}
      </div>
    </FormDialog>
  );
}

const OVERLAPS = [
  [0, "Immediately"],
  [3_600, "Stay valid for an hour"],
  [86_400, "Stay valid for a day"],
  [604_800, "Stay valid for a week"],
] as const;
const DEFAULT_OVERLAP = 86_400;

/** Generates a new signing secret and shows it once. */
export function RotateSecretDialog({ trigger, onClose }: Props) {
  const trpc = useTRPC();
  const isSigned = trigger.secrets.length > 0;
  const [overlapSeconds, setOverlapSeconds] = useState<number>(isSigned ? DEFAULT_OVERLAP : 0);
  // The dialog stays the one it was opened as when the trigger is read again.
  const [title] = useState(isSigned ? "Rotate the signing secret" : "Add a signing secret");
  const rotate = useMutation(
    trpc.triggers.rotateSecret.mutationOptions({
      meta: { refresh: [trpc.triggers.inspect.pathKey()] },
    }),
  );
  if (rotate.data) {
    const { secret, earlierUntil } = rotate.data;
    return (
      <Dialog onClose={onClose} sticky title={title} wide>
        <OneTimeValue
          label="Signing secret"
          value={secret}
          warning="Copy it now into the sender's settings. It is not shown again."
        />
        {earlierUntil === null ? null : (
          <p className="text-muted">
            Earlier secrets are valid until <Moment at={earlierUntil} />.
          </p>
        )}
        <DialogActions>
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
  return (
    <FormDialog
      act="Generate a secret"
      acting="Generating"
      mutation={rotate}
      onClose={onClose}
      onSubmit={() => rotate.mutate({ id: trigger.id, overlapSeconds })}
      title={title}
    >
      {isSigned ? (
        <SelectField
          hint="Senders that use an earlier secret are refused after that."
          label="Earlier secrets"
          onChange={(text) => setOverlapSeconds(Number(text))}
          value={String(overlapSeconds)}
        >
          {OVERLAPS.map(([seconds, label]) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
        </SelectField>
      ) : (
        <p>Calls without a valid signature are refused as soon as the secret exists.</p>
      )}
    </FormDialog>
  );
}

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
