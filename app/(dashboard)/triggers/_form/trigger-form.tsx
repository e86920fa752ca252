"use client";

import { useQuery } from "@tanstack/react-query";
import { Button, buttonClass } from "@/app/_ui/button";
import { CopyTextButton, OneTimeValue } from "@/app/_ui/copy-button";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { Dialog, DialogActions } from "@/app/_ui/dialog";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import { Link } from "@/app/_ui/link";
import { Command, SkeletonLine } from "@/app/_ui/page/page";
import { useClose } from "@/app/_ui/use-dialog";
import type { TriggerDetail } from "@/server/catalog/webhooks/inspect-trigger";
import { curlLine } from "../curl-line";
import { draftOf, NEW_TRIGGER, readDraft, type TriggerDraft } from "./trigger-draft";
import { TRIGGER_LABELS, TriggerFields } from "./trigger-fields";

/** The form for a trigger. Shows a new trigger's address and, only once, its secret. */
export function TriggerForm({ trigger = null }: { trigger?: TriggerDetail | null }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const form = useForm(
    {
      mutationFn: async (draft: TriggerDraft) => {
        const { definition } = readDraft(draft);
        if (trigger !== null) {
          await client.triggers.update.mutate({ ...definition, replaces: trigger.facts });
          return null;
        }
        return client.triggers.create.mutate({
          ...definition,
          generateSecret: draft.secret === "generated",
          secret: draft.secret === "own" ? draft.ownSecret : null,
        });
      },
    },
    {
      draft: trigger === null ? NEW_TRIGGER : draftOf(trigger),
      labels: TRIGGER_LABELS,
      refresh: [trpc.triggers.inspect, trpc.catalog],
      done: (created) => (created === null ? "Trigger saved" : undefined),
    },
  );
  const { data: directory = [] } = useQuery(trpc.catalog.directory.queryOptions());
  const [only, ...others] = directory.filter(({ kind }) => kind !== "trigger");
  // The only agent or tool is preselected in a new trigger.
  const preset = trigger === null && only && others.length === 0 ? `${only.kind}/${only.slug}` : "";
  const draft = { ...form.draft, target: form.draft.target || preset };
  if (form.result) return <CreatedDialog created={form.result} name={draft.name} />;
  return (
    <FormDialog
      {...form.dialog}
      act={trigger === null ? "Create trigger" : "Save"}
      acting={trigger === null ? "Creating" : "Saving"}
      onSubmit={() => form.send(draft, readDraft(draft).issues)}
      title={trigger === null ? "New trigger" : `Edit ${trigger.name}`}
      wide
    >
      <TriggerFields draft={draft} errorAt={form.errorAt} existing={trigger} onChange={form.change} />
    </FormDialog>
  );
}

type CreatedDialogProps = {
  name: string;
  created: { id: string; secret: string | null };
};

function CreatedDialog({ name, created: { id: triggerId, secret } }: CreatedDialogProps) {
  const trpc = useTRPC();
  const close = useClose();
  const { data: trigger } = useQuery(trpc.triggers.inspect.queryOptions({ triggerId }));
  const call = trigger?.url ? curlLine(trigger, trigger.url) : null;
  const line = call === null ? null : `${secret === null ? "" : `SECRET='${secret}'\n`}${call}`;
  return (
    <Dialog onClose={close} sticky title={`Trigger ${name} created`} wide>
      {secret === null ? null : (
        <OneTimeValue
          label="Signing secret"
          value={secret}
          warning="Copy it now into the sender's settings. It is not shown again."
        />
      )}
      <section aria-label="Address" className="flex flex-col gap-1.5">
        <h3 className="font-medium">Address</h3>
        {trigger?.url ? (
          <div className="flex min-h-9 items-center gap-2 rounded-md border border-line-strong bg-surface py-0.5 pr-0.5 pl-2.5">
            <code className="mono min-w-0 flex-1 [overflow-wrap:anywhere]">{trigger.url}</code>
            <CopyTextButton label="Copy" text={trigger.url} />
          </div>
        ) : (
          <SkeletonLine className="w-80" />
        )}
      </section>
      {line ? (
        <section aria-label="Call it" className="flex flex-col gap-1.5">
          <div className="flex items-center justify-between gap-2">
            <h3 className="font-medium">Call it</h3>
            <CopyTextButton label="Copy curl" text={line} />
          </div>
          <Command>{line}</Command>
        </section>
      ) : null}
      <DialogActions>
        <Button onClick={close}>Done</Button>
        <Link className={buttonClass("primary")} href={`/triggers/${triggerId}`}>
          Open the trigger
        </Link>
      </DialogActions>
    </Dialog>
  );
}
