"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { useNotify } from "@/app/_ui/toast";
import type { TriggerDetail } from "@/server/webhooks/inspect-trigger";
import { draftOf, readDraft } from "./trigger-draft";
import { TRIGGER_LABELS, TriggerFields } from "./trigger-fields";

/** The form for an existing trigger. Secret and address have actions of their own. */
export function EditTrigger({ trigger, onClose }: { trigger: TriggerDetail; onClose: () => void }) {
  const trpc = useTRPC();
  const notify = useNotify();
  const [draft, setDraft] = useState(() => draftOf(trigger));
  const [faults, setFaults] = useState<Record<string, string>>({});
  const update = useMutation(
    trpc.triggers.update.mutationOptions({
      meta: { refresh: [trpc.triggers.inspect.pathKey(), trpc.catalog.pathKey()] },
      onSuccess: () => {
        notify("Trigger saved");
        onClose();
      },
    }),
  );
  const problems = readProblems(update.error, TRIGGER_LABELS);

  function submit() {
    const read = readDraft(draft);
    setFaults(read.faults);
    if (Object.keys(read.faults).length === 0) update.mutate(read.definition);
  }

  return (
    <FormDialog
      act="Save"
      acting="Saving"
      mutation={update}
      onClose={onClose}
      onSubmit={submit}
      problem={problems.rest}
      title={`Edit ${trigger.name}`}
      wide
    >
      <TriggerFields
        draft={draft}
        errorAt={(path) => faults[path] ?? problems.at(path)}
        existing={{ signed: trigger.secrets.length > 0 }}
        onChange={(part) => setDraft((before) => ({ ...before, ...part }))}
      />
    </FormDialog>
  );
}
