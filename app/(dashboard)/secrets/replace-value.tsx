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
import { labelsOf } from "./secret-draft";
import { ValueField } from "./secret-fields";

/** Sets another value. Runs use it from their next call on. */
export function ReplaceValue({ secret, onClose }: { secret: SecretSummary; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const now = useNow();
  const [value, setValue] = useState("");
  const [expiry, setExpiry] = useState<ExpiryDraft>({ expiry: "never", date: "" });
  const [noDate, setNoDate] = useState(false);
  const replace = useMutation(
    trpc.secrets.replace.mutationOptions({
      onSuccess: async () => {
        await queryClient.invalidateQueries({ queryKey: trpc.secrets.list.pathKey() });
        notify(`The secret ${secret.name} has a new value`);
        onClose();
      },
    }),
  );
  const problems = readProblems(replace.error, labelsOf([]));

  function submit() {
    const expiresAt = readExpiry(expiry, { now });
    setNoDate(expiresAt === undefined);
    if (expiresAt !== undefined) replace.mutate({ name: secret.name, value, expiresAt });
  }

  const isNew = secret.state === "missing";
  return (
    <FormDialog
      act={isNew ? "Set value" : "Replace value"}
      acting="Saving"
      busy={replace.isPending}
      onClose={onClose}
      onSubmit={submit}
      problem={problems.rest}
      title={isNew ? `Set the value of ${secret.name}` : `Replace the value of ${secret.name}`}
    >
      <p className="text-muted">
        Runs use the new value from their next call on. It may be sent to {secret.hosts.join(", ")}.
      </p>
      <ValueField autoFocus error={problems.at("/value")} onChange={setValue} value={value} />
      <ExpiryField
        error={noDate ? "Choose a date." : problems.at("/expiresAt")}
        onChange={(part) => setExpiry((before) => ({ ...before, ...part }))}
        value={expiry}
        what="The value"
      />
    </FormDialog>
  );
}
