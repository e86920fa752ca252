"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { Dialog, DialogActions } from "@/app/_ui/dialog";
import { ExpiryField, useExpiry } from "@/app/_ui/forms/expiry-field";
import { TextField } from "@/app/_ui/forms/form";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { CopyTextButton } from "@/app/_ui/forms/one-time-value";
import { Command } from "@/app/_ui/page/page";
import { readHosts, referenceTo, SECRET_LABELS } from "./secret-draft";
import { HostsField, ValueField } from "./secret-fields";

const NEW_SECRET = { name: "", value: "", hosts: "" };

/** The form for a new secret, then how a tool refers to it. */
export function CreateSecret({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const [draft, setDraft] = useState(NEW_SECRET);
  const expiry = useExpiry();
  const create = useMutation(
    trpc.secrets.create.mutationOptions({
      meta: { refresh: [trpc.secrets.list.pathKey()] },
    }),
  );
  if (create.data) return <HowToUse name={create.data.name} onClose={onClose} />;
  const hosts = readHosts(draft.hosts);
  const problems = readProblems(create.error, SECRET_LABELS, { "/hosts": create.variables?.hosts ?? [] });
  const change = (part: Partial<typeof draft>) => setDraft((before) => ({ ...before, ...part }));

  function submit() {
    const expiresAt = expiry.read();
    if (expiresAt === undefined) return;
    create.mutate({ name: draft.name.trim(), value: draft.value, hosts, expiresAt });
  }

  return (
    <FormDialog
      act="Create secret"
      acting="Creating"
      mutation={create}
      onClose={onClose}
      onSubmit={submit}
      problem={problems.rest}
      title="New secret"
    >
      <TextField
        autoFocus
        error={problems.at("/name")}
        hint="Letters, digits and _, such as github. Tools refer to it."
        label="Name"
        maxLength={64}
        onChange={(name) => change({ name })}
        value={draft.name}
      />
      <ValueField error={problems.at("/value")} onChange={(value) => change({ value })} value={draft.value} />
      <HostsField
        error={problems.at("/hosts")}
        onChange={(text) => change({ hosts: text })}
        value={draft.hosts}
      />
      <ExpiryField {...expiry.props(problems.at("/expiresAt"))} what="The secret" />
    </FormDialog>
  );
}

function HowToUse({ name, onClose }: { name: string; onClose: () => void }) {
  const line = `headers: { authorization: "Bearer ${referenceTo(name)}" }`;
  return (
    <Dialog onClose={onClose} title={`Secret ${name} created`}>
      <p>Write this in a step of a tool that uses http_request:</p>
      <Command>{line}</Command>
      <p className="text-muted">
        The reference also works in query, body, form, multipart and basicAuth. Only the allowed hosts get the
        value.
      </p>
      <DialogActions>
        <CopyTextButton label="Copy" text={line} />
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
