"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatDuration, formatTokens } from "@/app/_ui/figures/format";
import { SelectField } from "@/app/_ui/forms/form";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import type { OwnProvider } from "@/server/models/own-provider";

/** Makes a small call at a provider and shows its outcome. `isNew`: right after the provider was created. */
export function TestProvider({
  provider: { name, models },
  isNew,
  onClose,
}: {
  provider: OwnProvider;
  isNew: boolean;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const [model, setModel] = useState(models[0] ?? "");
  const test = useMutation(
    trpc.models.test.mutationOptions({
      meta: { refresh: [trpc.models.list.pathKey(), trpc.secrets.list.pathKey()] },
    }),
  );
  return (
    <FormDialog
      act={test.data ? "Test again" : "Test the connection"}
      acting="Waiting for the answer"
      dismiss={isNew || test.data ? "Done" : "Cancel"}
      mutation={test}
      onClose={onClose}
      onSubmit={() => test.mutate({ name, model })}
      title={isNew ? `Provider ${name} added` : `Test ${name}`}
    >
      {isNew ? <p>Agents and tools can choose its models now. Make sure that it answers:</p> : null}
      <SelectField
        hint="One small call, as a run makes it. It costs no credits; the provider may charge for its tokens."
        label="Model"
        onChange={setModel}
        value={model}
      >
        {models.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </SelectField>
      <div aria-live="polite" className="[overflow-wrap:anywhere]">
        {test.data?.answered ? (
          <p className="rounded-md border border-line bg-surface px-2.5 py-2">
            <span className="font-medium text-completed">The connection works.</span> {test.variables?.model}{" "}
            answered in {formatDuration(test.data.durationMs)}
            {test.data.text === "" ? "" : `: “${test.data.text}”`} (
            {formatTokens(test.data.inputTokens, test.data.outputTokens)}).
          </p>
        ) : null}
        {test.data?.answered === false ? (
          <p className="rounded-md bg-failed-wash px-2.5 py-2 text-failed">
            <span className="font-medium">The test failed.</span> {test.data.message}
          </p>
        ) : null}
      </div>
    </FormDialog>
  );
}
