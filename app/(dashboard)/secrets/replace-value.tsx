"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { ExpiryField, useExpiry } from "@/app/_ui/forms/expiry-field";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { useNotify } from "@/app/_ui/toast";
import type { SecretSummary } from "@/server/catalog/organization/secrets";
import { SECRET_LABELS } from "./secret-draft";
import { ValueField } from "./secret-fields";

/** Sets another value. Runs use it from their next call on. */
export function ReplaceValue({ secret, onClose }: { secret: SecretSummary; onClose: () => void }) {
  const trpc = useTRPC();
  const notify = useNotify();
  const [value, setValue] = useState("");
  const expiry = useExpiry();
  const replace = useMutation(
    trpc.secrets.replace.mutationOptions({
      meta: { refresh: [trpc.secrets.list.pathKey()] },
      onSuccess: () => {
        notify(`The secret ${secret.name} has a new value`);
        onClose();
      },
    }),
  );
  const problems = readProblems(replace.error, SECRET_LABELS);

  function submit() {
    const expiresAt = expiry.read();
    if (expiresAt !== undefined) replace.mutate({ name: secret.name, value, expiresAt });
  }

  const isNew = secret.state === "missing";
  return (
    <FormDialog
      act={isNew ? "Set value" : "Replace value"}
      acting="Saving"
      mutation={replace}
      onClose={onClose}
      onSubmit={submit}
      problem={problems.rest}
      title={isNew ? `Set the value of ${secret.name}` : `Replace the value of ${secret.name}`}
    >
      <p className="text-muted">
        Runs use the new value from their next call on. It may be sent to {secret.hosts.join(", ")}.
      </p>
      <ValueField autoFocus error={problems.at("/value")} onChange={setValue} value={value} />
      <ExpiryField {...expiry.props(problems.at("/expiresAt"))} what="The value" />
    </FormDialog>
  );
}
