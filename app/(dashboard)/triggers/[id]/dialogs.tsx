"use client";

import { useRouter } from "next/navigation";
import { OneTimeValue } from "@/app/_ui/copy-button";
import { useTRPC } from "@/app/_ui/data/providers";
import { DoneDialog } from "@/app/_ui/dialog";
import { CodeField } from "@/app/_ui/editor/code-field";
import { Moment } from "@/app/_ui/figures/time";
import { OptionField, TextField } from "@/app/_ui/forms/form";
import { ConfirmDialog, FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import { Link } from "@/app/_ui/link";
import type { TriggerDetail } from "@/server/catalog/webhooks/inspect-trigger";
import { PRESETS } from "@/server/catalog/webhooks/senders/presets";
import { senderGuide } from "../sender-guide";

type TriggerDialogProps = { trigger: TriggerDetail };

/** Sends a signed call to the trigger and shows what a sender would get. */
export function TestCallDialog({ trigger }: TriggerDialogProps) {
  const trpc = useTRPC();
  const { result, ...form } = useForm(trpc.triggers.sendTest.mutationOptions(), {
    draft: { body: trigger.exampleBody },
    labels: { "/body": "Body" },
    refresh: [trpc.triggers.deliveries],
  });
  return (
    <FormDialog
      {...form.dialog}
      act="Send"
      acting="Sending"
      dismiss={result ? "Done" : "Cancel"}
      onSubmit={() => form.send({ triggerId: trigger.id, ...form.draft })}
      title="Send a test call"
      wide
    >
      <CodeField
        {...form.field("body")}
        hint={`Sent as JSON${trigger.secrets.length > 0 ? ", signed with the newest secret" : ""}. It starts a run of ${trigger.target.name}, which uses credits.`}
        language="json"
      />
      <div aria-live="polite">
        {result?.problem ? (
          <p className="rounded-md bg-failed-wash px-2.5 py-2 text-failed [overflow-wrap:anywhere]">
            Rejected with status {result.status}: {result.problem.message}{" "}
            <span className="mono">{result.problem.code}</span>
          </p>
        ) : result ? (
          <p className="rounded-md border border-line bg-surface px-2.5 py-2">
            {result.runId === null ? (
              `Answered with status ${result.status}. No run was started.`
            ) : (
              <>
                Accepted with status {result.status}.{" "}
                <Link className="text-accent underline" href={`/runs/${result.runId}`}>
                  Open the run
                </Link>
              </>
            )}
          </p>
        ) : null}
      </div>
    </FormDialog>
  );
}

/** In seconds. */
const OVERLAPS = [
  { value: "0", label: "Immediately" },
  { value: "3600", label: "Stay valid for an hour" },
  { value: "86400", label: "Stay valid for a day" },
  { value: "604800", label: "Stay valid for a week" },
];
const DEFAULT_OVERLAP = "86400";

/** Generates a new signing secret and shows it once, or takes the one that the sender creates. */
export function RotateSecretDialog({ trigger }: TriggerDialogProps) {
  const trpc = useTRPC();
  const isSigned = trigger.secrets.length > 0;
  const title = isSigned ? "Rotate the signing secret" : "Add a signing secret";
  const sender = typeof trigger.signature === "string" ? PRESETS[trigger.signature] : null;
  const isSenders = sender?.secretFrom === "sender";
  const form = useForm(trpc.triggers.rotateSecret.mutationOptions(), {
    draft: { secret: "", overlapSeconds: isSigned ? DEFAULT_OVERLAP : "0" },
    labels: { "/secret": "The sender's secret", "/overlapSeconds": "Earlier secrets" },
    refresh: [trpc.triggers.inspect],
    done: () => (isSenders ? `The trigger ${trigger.name} has the sender's secret` : undefined),
  });
  if (form.result) {
    const { secret, earlierUntil } = form.result;
    return (
      <DoneDialog sticky title={title} wide>
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
      </DoneDialog>
    );
  }
  const { secret, overlapSeconds } = form.draft;
  const input = { id: trigger.id, overlapSeconds: Number(overlapSeconds) };
  const submit = () => {
    if (!isSenders) form.send(input);
    else form.send({ ...input, secret }, secret === "" ? { "/secret": "Enter the sender's secret." } : {});
  };
  return (
    <FormDialog
      {...form.dialog}
      act={isSenders ? "Save secret" : "Generate a secret"}
      acting={isSenders ? "Saving" : "Generating"}
      onSubmit={submit}
      title={title}
    >
      {isSenders ? (
        <TextField
          {...form.field("secret")}
          autoComplete="new-password"
          autoFocus
          hint={
            <>
              {sender.title} creates it.{" "}
              <Link
                className="text-accent underline"
                href={senderGuide(trigger.signature)}
                rel="noreferrer"
                target="_blank"
              >
                Where to click
              </Link>
            </>
          }
          type="password"
        />
      ) : null}
      {isSigned ? (
        <OptionField
          {...form.field("overlapSeconds")}
          hint="Senders that use an earlier secret are rejected after that."
          options={OVERLAPS}
        />
      ) : (
        <p>Calls without a valid signature are rejected as soon as the secret exists.</p>
      )}
    </FormDialog>
  );
}

export function ReplaceAddressDialog({ trigger }: TriggerDialogProps) {
  const trpc = useTRPC();
  const form = useForm(trpc.triggers.rotateAddress.mutationOptions(), {
    draft: {},
    refresh: [trpc.triggers.inspect],
    done: () => ["The trigger has a new address", "Copy it into the sender's settings."],
  });
  return (
    <ConfirmDialog
      {...form.dialog}
      act="Replace address"
      acting="Replacing"
      onConfirm={() => form.send({ id: trigger.id })}
      title={`Replace the address of ${trigger.name}`}
    >
      <p>The current address answers 404 immediately. Senders need the new one. This cannot be undone.</p>
    </ConfirmDialog>
  );
}

export function DeleteTriggerDialog({ trigger }: TriggerDialogProps) {
  const trpc = useTRPC();
  const router = useRouter();
  const form = useForm(trpc.triggers.remove.mutationOptions(), {
    draft: {},
    refresh: [trpc.catalog],
    done: () => {
      router.push("/triggers");
      return `The trigger ${trigger.name} is deleted`;
    },
  });
  return (
    <ConfirmDialog
      {...form.dialog}
      act="Delete trigger"
      acting="Deleting"
      onConfirm={() => form.send({ slug: trigger.slug })}
      title={`Delete ${trigger.name}`}
    >
      <p>
        Its address answers 404 immediately, and its secrets are no longer valid. Its runs and deliveries
        stay.
      </p>
      <p className="text-muted">Disable it instead to reject calls for a while.</p>
    </ConfirmDialog>
  );
}
