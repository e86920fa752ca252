"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ExpiryDraft, readExpiry } from "@/app/_ui/expiry";
import { ExpiryField } from "@/app/_ui/expiry-field";
import { FormDialog } from "@/app/_ui/form-dialog";
import { readProblems } from "@/app/_ui/form-problems";
import { useTRPC } from "@/app/_ui/providers";
import { useNow } from "@/app/_ui/time";
import { useNotify } from "@/app/_ui/toast";
import type { SecretSummary } from "@/server/catalog/organization/secrets";
import { hostsError, labelsOf, readHosts } from "./secret-draft";
import { HostsField } from "./secret-fields";

/** Changes where a secret may be sent and when it expires; its value stays. */
export function EditRules({ secret, onClose }: { secret: SecretSummary; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const now = useNow();
  const kept = secret.expiresAt;
  const [text, setText] = useState(secret.hosts.join("\n"));
  const [expiry, setExpiry] = useState<ExpiryDraft>({ expiry: kept === null ? "never" : "kept", date: "" });
  const [noDate, setNoDate] = useState(false);
  const save = useMutation(
    trpc.secrets.changeRules.mutationOptions({
      onSuccess: async ({ saved }) => {
        await queryClient.invalidateQueries({ queryKey: trpc.secrets.list.pathKey() });
        if (saved !== "unchanged") notify(`The secret ${secret.name} is changed`);
        onClose();
      },
    }),
  );
  const sent = save.variables?.hosts ?? [];
  const problems = readProblems(save.error, labelsOf(sent));

  function submit() {
    const expiresAt = readExpiry(expiry, { now, kept });
    setNoDate(expiresAt === undefined);
    if (expiresAt !== undefined) save.mutate({ name: secret.name, hosts: readHosts(text), expiresAt });
  }

  return (
    <FormDialog
      act="Save"
      acting="Saving"
      busy={save.isPending}
      onClose={onClose}
      onSubmit={submit}
      problem={problems.rest}
      title={`Edit ${secret.name}`}
    >
      <p className="text-muted">The value stays as it is.</p>
      <HostsField error={hostsError(problems.at, sent)} onChange={setText} value={text} />
      <ExpiryField
        error={noDate ? "Choose a date." : problems.at("/expiresAt")}
        kept={kept}
        onChange={(part) => setExpiry((before) => ({ ...before, ...part }))}
        value={expiry}
        what="The secret"
      />
    </FormDialog>
  );
}
