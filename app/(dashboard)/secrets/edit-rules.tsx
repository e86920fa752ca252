"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { ExpiryField, useExpiry } from "@/app/_ui/forms/expiry-field";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { useNotify } from "@/app/_ui/toast";
import type { SecretSummary } from "@/server/catalog/organization/secrets";
import { readHosts, SECRET_LABELS } from "./secret-draft";
import { HostsField } from "./secret-fields";

/** Changes where a secret may be sent and when it expires; its value stays. */
export function EditRules({ secret, onClose }: { secret: SecretSummary; onClose: () => void }) {
  const trpc = useTRPC();
  const notify = useNotify();
  const [text, setText] = useState(secret.hosts.join("\n"));
  const expiry = useExpiry(secret.expiresAt);
  const save = useMutation(
    trpc.secrets.changeRules.mutationOptions({
      meta: { refresh: [trpc.secrets.list.pathKey()] },
      onSuccess: ({ saved }) => {
        if (saved !== "unchanged") notify(`The secret ${secret.name} is changed`);
        onClose();
      },
    }),
  );
  const problems = readProblems(save.error, SECRET_LABELS, { "/hosts": save.variables?.hosts ?? [] });

  function submit() {
    const expiresAt = expiry.read();
    if (expiresAt !== undefined) save.mutate({ name: secret.name, hosts: readHosts(text), expiresAt });
  }

  return (
    <FormDialog
      act="Save"
      acting="Saving"
      mutation={save}
      onClose={onClose}
      onSubmit={submit}
      problem={problems.rest}
      title={`Edit ${secret.name}`}
    >
      <p className="text-muted">The value stays as it is.</p>
      <HostsField error={problems.at("/hosts")} onChange={setText} value={text} />
      <ExpiryField {...expiry.props(problems.at("/expiresAt"))} what="The secret" />
    </FormDialog>
  );
}
