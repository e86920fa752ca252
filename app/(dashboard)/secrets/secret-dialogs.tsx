"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { CopyTextButton } from "@/app/_ui/copy-button";
import { useNow } from "@/app/_ui/data/clock";
import { useTRPC } from "@/app/_ui/data/providers";
import { DoneDialog } from "@/app/_ui/dialog";
import { ExpiryField, useExpiry } from "@/app/_ui/forms/expiry-field";
import { TextareaField, TextField } from "@/app/_ui/forms/form";
import { ConfirmDialog, FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import { Command } from "@/app/_ui/page/page";
import type { SecretSummary } from "@/server/catalog/organization/secrets";
import { UsedBy } from "../used-by";
import { confirmWith, readHosts, referenceTo } from "./secret-draft";

const LABELS = { "/name": "Name", "/value": "Value", "/expiresAt": "The date", "/hosts": "Allowed hosts" };
const VALUE = {
  autoComplete: "new-password",
  hint: "Encrypted when you save. It cannot be read again, so keep the original.",
  type: "password",
};
const HOSTS_HINT = "One per line, such as api.github.com or localhost:8080. Without wildcards.";

/** The form for a new secret, then how a tool refers to it. */
export function CreateSecret() {
  const trpc = useTRPC();
  const expiry = useExpiry();
  const { draft, field, ...form } = useForm(trpc.secrets.create.mutationOptions(), {
    draft: { name: "", value: "", hosts: "" },
    labels: LABELS,
    refresh: [trpc.secrets.list],
  });
  if (form.result) return <HowToUse name={form.result.name} />;
  const { name, value, hosts } = draft;
  const submit = () =>
    form.send({ name: name.trim(), value, hosts: readHosts(hosts), ...expiry.sent }, expiry.issues);
  return (
    <FormDialog {...form.dialog} act="Create secret" acting="Creating" onSubmit={submit} title="New secret">
      <TextField
        {...field("name")}
        autoFocus
        hint="Letters, digits and _, such as github. Tools refer to it."
        maxLength={64}
      />
      <TextField {...field("value")} {...VALUE} />
      <TextareaField code {...field("hosts")} hint={HOSTS_HINT} />
      <ExpiryField error={form.errorAt("/expiresAt")} {...expiry.field} what="The secret" />
    </FormDialog>
  );
}

function HowToUse({ name }: { name: string }) {
  const line = `headers: { authorization: "Bearer ${referenceTo(name)}" }`;
  return (
    <DoneDialog actions={<CopyTextButton label="Copy" text={line} />} title={`Secret ${name} created`}>
      <p>Write this in a step of a tool that uses http_request:</p>
      <Command>{line}</Command>
      <p className="text-muted">
        The reference also works in query, body, form, multipart and basicAuth. Only the allowed hosts get the
        value.
      </p>
    </DoneDialog>
  );
}

type SecretDialogProps = { secret: SecretSummary };

/** Changes where a secret may be sent and when it expires; its value stays. */
export function EditRules({ secret: { name, hosts, expiresAt: kept } }: SecretDialogProps) {
  const trpc = useTRPC();
  const expiry = useExpiry(kept);
  const form = useForm(trpc.secrets.changeRules.mutationOptions(), {
    draft: { hosts: hosts.join("\n") },
    labels: LABELS,
    refresh: [trpc.secrets.list],
    done: ({ saved, waitingHosts }) => {
      if (saved === "unchanged") return null;
      const title = `The secret ${name} is changed`;
      return waitingHosts.length === 0 ? title : [title, confirmWith(waitingHosts)];
    },
  });
  const submit = () =>
    form.send(
      {
        name,
        hosts: readHosts(form.draft.hosts),
        ...expiry.sent,
        replaces: { hosts, expiresAt: kept },
      },
      expiry.issues,
    );
  return (
    <FormDialog {...form.dialog} act="Save" acting="Saving" onSubmit={submit} title={`Edit ${name}`}>
      <p className="text-muted">
        The value stays as it is. A host that you add receives it only after the value is set again.
      </p>
      <TextareaField code {...form.field("hosts")} hint={HOSTS_HINT} />
      <ExpiryField error={form.errorAt("/expiresAt")} {...expiry.field} what="The secret" />
    </FormDialog>
  );
}

/**
 * Sets another value. Runs use it from their next call on. It confirms only hosts that the dialog shows, so these do
 * not change by themselves.
 */
export function ReplaceValue({ secret }: SecretDialogProps) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [{ name, hosts, waitingHosts, state, expiresAt }, setShown] = useState(secret);
  const now = useNow();
  const hasExpired = expiresAt !== null && Date.parse(expiresAt) <= now;
  const expiry = useExpiry(hasExpired ? null : expiresAt, hasExpired ? "none" : undefined);
  const form = useForm(trpc.secrets.replace.mutationOptions(), {
    draft: { value: "" },
    labels: LABELS,
    refresh: [trpc.secrets.list],
    done: () => `The secret ${name} has a new value`,
    onConflict() {
      const stored = queryClient.getQueryData(trpc.secrets.list.queryKey());
      setShown((shown) => stored?.find((other) => other.name === name) ?? shown);
    },
  });
  const { value } = form.draft;
  const replaces = { hosts, waitingHosts, expiresAt };
  const submit = () => form.send({ name, value, hosts, ...expiry.sent, replaces }, expiry.issues);
  const isNew = state === "missing";
  return (
    <FormDialog
      {...form.dialog}
      act={isNew ? "Set value" : "Replace value"}
      acting="Saving"
      onSubmit={submit}
      title={`${isNew ? "Set" : "Replace"} the value of ${name}`}
    >
      <p className="text-muted">
        Runs use the new value from their next call on. It may be sent to {hosts.join(", ")}.
      </p>
      {waitingHosts.length > 0 ? (
        <p className="rounded-md bg-waiting-wash px-2.5 py-2 text-waiting">
          This confirms {waitingHosts.join(", ")}. Check that this secret belongs there.
        </p>
      ) : null}
      <TextField {...form.field("value")} {...VALUE} autoFocus />
      <ExpiryField error={form.errorAt("/expiresAt")} {...expiry.field} what="The value" />
    </FormDialog>
  );
}

/** Confirms, with the tools that use the secret, then removes it. */
export function RemoveSecret({ secret: { name } }: SecretDialogProps) {
  const trpc = useTRPC();
  const users = useQuery({ ...trpc.secrets.users.queryOptions({ name }), staleTime: 0 });
  const form = useForm(trpc.secrets.remove.mutationOptions(), {
    draft: {},
    refresh: [trpc.secrets.list],
    done: () => `The secret ${name} is removed`,
  });
  return (
    <ConfirmDialog
      {...form.dialog}
      act="Remove secret"
      acting="Removing"
      loading={users.isPending}
      onConfirm={() => form.send({ name })}
      title={`Remove ${name}`}
    >
      <p>The value is deleted immediately and cannot be restored.</p>
      <UsedBy
        effect="Their steps that refer to it fail from then on."
        many="tools use"
        one="tool uses"
        users={users}
      />
    </ConfirmDialog>
  );
}
