"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button, buttonClass } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { Dialog, DialogActions } from "@/app/_ui/dialog";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { CopyTextButton, OneTimeValue } from "@/app/_ui/forms/one-time-value";
import { Link } from "@/app/_ui/link";
import { Command, SkeletonLine } from "@/app/_ui/page/page";
import { useNotify } from "@/app/_ui/toast";
import type { TriggerDetail } from "@/server/webhooks/inspect-trigger";
import { curlLine } from "../[id]/curl-line";
import { draftOf, NEW_TRIGGER, readDraft } from "./trigger-draft";
import { TRIGGER_LABELS, TriggerFields } from "./trigger-fields";

type TriggerFormProps = { trigger?: TriggerDetail | null; onClose: () => void };

/**
 * The form for a trigger. A new one's address and, once, its secret are then shown. An existing one's secret and address
 * have actions of their own.
 */
export function TriggerForm({ trigger = null, onClose }: TriggerFormProps) {
  const trpc = useTRPC();
  const notify = useNotify();
  const [typed, setTyped] = useState(() => (trigger === null ? NEW_TRIGGER : draftOf(trigger)));
  const { data: directory = [] } = useQuery(trpc.catalog.directory.queryOptions());
  const [only, ...others] = directory.filter(({ kind }) => kind !== "trigger");
  // The only agent or tool is preselected in a new trigger.
  const preset = trigger === null && only && others.length === 0 ? `${only.kind}/${only.slug}` : "";
  const draft = { ...typed, target: typed.target || preset };
  const [faults, setFaults] = useState<Record<string, string>>({});
  const meta = { refresh: [trpc.triggers.inspect.pathKey(), trpc.catalog.pathKey()] };
  const create = useMutation(trpc.triggers.create.mutationOptions({ meta }));
  const update = useMutation(
    trpc.triggers.update.mutationOptions({
      meta,
      onSuccess: () => {
        notify("Trigger saved");
        onClose();
      },
    }),
  );
  if (create.data) return <CreatedDialog created={create.data} name={draft.name} onClose={onClose} />;
  const mutation = trigger === null ? create : update;
  const problems = readProblems(mutation.error, TRIGGER_LABELS);

  function submit() {
    const { definition, faults: found } = readDraft(draft);
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    if (trigger !== null) return update.mutate(definition);
    create.mutate({
      ...definition,
      generateSecret: draft.secret === "generated",
      secret: draft.secret === "own" ? draft.ownSecret : null,
    });
  }

  return (
    <FormDialog
      act={trigger === null ? "Create trigger" : "Save"}
      acting={trigger === null ? "Creating" : "Saving"}
      mutation={mutation}
      onClose={onClose}
      onSubmit={submit}
      problem={problems.rest}
      title={trigger === null ? "New trigger" : `Edit ${trigger.name}`}
      wide
    >
      <TriggerFields
        draft={draft}
        errorAt={(path) => faults[path] ?? problems.at(path)}
        existing={trigger}
        onChange={(part) => setTyped((before) => ({ ...before, ...part }))}
      />
    </FormDialog>
  );
}

type CreatedDialogProps = {
  name: string;
  created: { id: string; secret: string | null };
  onClose: () => void;
};

function CreatedDialog({ name, created: { id: triggerId, secret }, onClose }: CreatedDialogProps) {
  const trpc = useTRPC();
  const { data: trigger } = useQuery(trpc.triggers.inspect.queryOptions({ triggerId }));
  const line = trigger?.url
    ? `${secret === null ? "" : `SECRET='${secret}'\n`}${curlLine(trigger, trigger.url)}`
    : null;
  return (
    <Dialog onClose={onClose} sticky title={`Trigger ${name} created`} wide>
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
        <Button onClick={onClose}>Done</Button>
        <Link className={buttonClass("primary")} href={`/triggers/${triggerId}`}>
          Open the trigger
        </Link>
      </DialogActions>
    </Dialog>
  );
}
