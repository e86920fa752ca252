"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { SelectField, TextareaField, TextField } from "@/app/_ui/forms/form";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { useNotify } from "@/app/_ui/toast";
import type { OwnProvider } from "@/server/models/own-provider";
import type { KnownService } from "./known-services";
import {
  hostOf,
  NEW_KEY,
  NO_KEY,
  newProviderAt,
  newSecretName,
  PROVIDER_LABELS,
  type ProviderDraft,
  readDraft,
  toDraft,
} from "./provider-draft";

/** Adds a model provider, or edits the one that it `replaces`. */
export function ProviderForm({
  replaces,
  service,
  onCreated,
  onClose,
}: {
  replaces: OwnProvider | null;
  /** A service to begin with. */
  service: KnownService | null;
  onCreated: (provider: OwnProvider) => void;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const notify = useNotify();
  const [draft, setDraft] = useState(replaces === null ? newProviderAt(service) : toDraft(replaces));
  const secrets = useQuery(trpc.secrets.list.queryOptions());
  const names = secrets.data?.map(({ name }) => name) ?? (draft.key === NEW_KEY ? [] : [draft.key]);
  const { provider, keyValue } = readDraft(draft, names);
  const save = useMutation(
    trpc.models.save.mutationOptions({
      meta: {
        refresh: [
          trpc.models.list.pathKey(),
          trpc.secrets.list.pathKey(),
          trpc.definitions.choices.pathKey(),
        ],
      },
      onSuccess: ({ name }) => {
        if (replaces === null) return onCreated(provider);
        notify(`The model provider ${name} is changed`);
        onClose();
      },
    }),
  );
  const problems = readProblems(save.error, PROVIDER_LABELS, { "/models": save.variables?.models ?? [] });
  const change = (part: Partial<ProviderDraft>) => setDraft((before) => ({ ...before, ...part }));
  const host = hostOf(draft.baseUrl);

  return (
    <FormDialog
      act={replaces === null ? "Create provider" : "Save"}
      acting="Saving"
      mutation={save}
      onClose={onClose}
      onSubmit={() => save.mutate({ ...provider, replaces, ...(keyValue === undefined ? {} : { keyValue }) })}
      problem={problems.rest}
      title={replaces === null ? "New provider" : `Edit ${replaces.name}`}
    >
      {replaces === null ? (
        <TextField
          autoFocus={service === null}
          error={problems.at("/name")}
          hint="Lowercase letters, digits and -, such as openrouter. Runs show it."
          label="Name"
          maxLength={63}
          onChange={(name) => change({ name })}
          value={draft.name}
        />
      ) : null}
      <TextField
        error={problems.at("/baseUrl")}
        hint="Of an OpenAI-compatible API, up to and including /v1, such as https://openrouter.ai/api/v1."
        inputMode="url"
        label="Base URL"
        onChange={(baseUrl) => change({ baseUrl })}
        value={draft.baseUrl}
      />
      <SelectField
        error={problems.at("/apiKey")}
        label="Key"
        onChange={(key) => change({ key })}
        value={draft.key}
      >
        <option value={NEW_KEY}>A new key</option>
        <option value={NO_KEY}>No key: the provider asks for none</option>
        {names.length === 0 ? null : (
          <optgroup label="Secrets">
            {names
              .filter((name) => name !== NO_KEY)
              .map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
          </optgroup>
        )}
      </SelectField>
      {draft.key === NEW_KEY ? (
        <TextField
          autoComplete="new-password"
          autoFocus={service !== null}
          error={problems.at("/keyValue")}
          hint={`Encrypted when you save, as the secret ${newSecretName(draft.name.trim(), names)}, and sent to ${host ?? "the provider's host"} alone. Nobody can read it again.`}
          label="API key"
          onChange={(value) => change({ keyValue: value })}
          type="password"
          value={draft.keyValue}
        />
      ) : null}
      <TextareaField
        error={problems.at("/models")}
        hint={`One per line, as the provider names them${service === null ? "" : `, such as ${service.example}`}. Agents choose among them.`}
        label="Models"
        onChange={(models) => change({ models })}
        value={draft.models}
      />
    </FormDialog>
  );
}
