"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { Dialog, DialogActions } from "@/app/_ui/dialog";
import { Moment } from "@/app/_ui/figures/time";
import { SelectField } from "@/app/_ui/forms/form";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { OneTimeValue } from "@/app/_ui/forms/one-time-value";
import type { TriggerDetail } from "@/server/webhooks/inspect-trigger";

const OVERLAPS = [
  [0, "Immediately"],
  [3_600, "Stay valid for an hour"],
  [86_400, "Stay valid for a day"],
  [604_800, "Stay valid for a week"],
] as const;
const DEFAULT_OVERLAP = 86_400;

/** Generates a new signing secret and shows it once. */
export function RotateSecretDialog({ trigger, onClose }: { trigger: TriggerDetail; onClose: () => void }) {
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
