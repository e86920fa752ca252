"use client";

import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatDuration, formatTokens } from "@/app/_ui/figures/format";
import { OptionField, SelectField, TextareaField, TextField } from "@/app/_ui/forms/form";
import { ConfirmDialog, FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import type { OwnProvider } from "@/server/work/models/own-provider";
import { UsedBy } from "../used-by";
import { OfferedModels } from "./offered-models";
import {
  API_CHOICES,
  API_TITLES,
  hostOf,
  type KnownService,
  NEW_KEY,
  NO_KEY,
  newProviderAt,
  newSecretName,
  readDraft,
  toDraft,
  toggleModel,
} from "./provider-draft";

const LABELS = {
  "/name": "Name",
  "/baseUrl": "Base URL",
  "/api": "Interface",
  "/apiKey": "Key",
  "/keyValue": "API key",
  "/models": "Models",
};

type ProviderFormProps = {
  replaces: OwnProvider | null;
  service: KnownService | null;
  onCreated: (provider: OwnProvider) => void;
};

/** Adds a model provider, or edits the one that it `replaces`. */
export function ProviderForm({ replaces, service, onCreated }: ProviderFormProps) {
  const trpc = useTRPC();
  const secrets = useQuery(trpc.secrets.list.queryOptions());
  const { draft, field, ...form } = useForm(trpc.models.save.mutationOptions(), {
    draft: replaces === null ? newProviderAt(service) : toDraft(replaces),
    labels: LABELS,
    refresh: [trpc.models.list, trpc.secrets.list, trpc.definitions.choices],
    done: ({ name }) => {
      if (replaces !== null) return `The model provider ${name} is changed`;
      onCreated(provider);
      return undefined;
    },
  });
  const names = secrets.data?.map(({ name }) => name) ?? (draft.key === NEW_KEY ? [] : [draft.key]);
  const { provider, keyValue } = readDraft(draft, names);
  return (
    <FormDialog
      {...form.dialog}
      act={replaces === null ? "Create provider" : "Save"}
      acting="Saving"
      onSubmit={() => form.send({ ...provider, replaces, ...(keyValue === undefined ? {} : { keyValue }) })}
      title={replaces === null ? "New provider" : `Edit ${replaces.name}`}
    >
      {replaces === null ? (
        <TextField
          {...field("name")}
          autoFocus={service === null}
          hint="Lowercase letters, digits and -, such as openrouter. Runs show it."
          maxLength={63}
        />
      ) : null}
      <TextField
        {...field("baseUrl")}
        hint="The address up to and including /v1, such as https://openrouter.ai/api/v1. Of Anthropic without /v1."
        inputMode="url"
      />
      <OptionField
        {...field("api")}
        hint="How it is called. Most services offer chat completions."
        options={API_CHOICES.map((value) => ({ value, label: API_TITLES[value] }))}
      />
      <SelectField {...field("key")} error={form.errorAt("/apiKey")} label={LABELS["/apiKey"]}>
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
          {...field("keyValue")}
          autoComplete="new-password"
          autoFocus={service !== null}
          hint={`Encrypted when you save, as the secret ${newSecretName(draft.name.trim(), names)}, and sent to ${hostOf(draft.baseUrl) ?? "the provider's host"} alone. It cannot be read again.`}
          type="password"
        />
      ) : null}
      <TextareaField
        code
        {...field("models")}
        hint={`One per line, as the provider names them${service === null ? "" : `, such as ${service.example}`}. Agents choose among them.`}
      />
      <OfferedModels
        chosen={provider.models}
        keyValue={keyValue}
        onToggle={(model) => form.change({ models: toggleModel(draft.models, model) })}
        provider={provider}
      />
    </FormDialog>
  );
}

type TestProviderProps = { provider: OwnProvider; isNew: boolean };

/** Makes two small calls at a provider and shows what works. `isNew`: right after the provider was created. */
export function TestProvider({ provider: { name, models }, isNew }: TestProviderProps) {
  const trpc = useTRPC();
  const { result, ...form } = useForm(trpc.models.test.mutationOptions(), {
    draft: { model: models[0] ?? "" },
    labels: { "/model": "Model" },
    refresh: [trpc.models.list, trpc.secrets.list],
  });
  return (
    <FormDialog
      {...form.dialog}
      act={result ? "Test again" : "Test the connection"}
      acting="Waiting for the answer"
      dismiss={isNew || result ? "Done" : "Cancel"}
      onSubmit={() => form.send({ name, ...form.draft })}
      title={isNew ? `Provider ${name} added` : `Test ${name}`}
    >
      {isNew ? <p>Its models are now available. Test the connection:</p> : null}
      <OptionField
        {...form.field("model")}
        hint="Two small calls, as a run makes them. They cost no credits; the provider may charge for their tokens."
        options={models.map((model) => ({ value: model, label: model }))}
      />
      <div aria-live="polite" className="[overflow-wrap:anywhere]">
        {result?.answered ? (
          <div className="rounded-md border border-line bg-surface px-2.5 py-2">
            <p>
              <span className="font-medium text-completed">The connection works.</span> {form.sent?.model}{" "}
              answered in {formatDuration(result.durationMs)}
              {result.text === "" ? "" : `: “${result.text}”`} (
              {formatTokens(result.inputTokens, result.outputTokens)}).
            </p>
            <dl className="mt-2 grid grid-cols-[auto_1fr] gap-x-3 gap-y-1">
              {result.abilities.map(({ name: ability, works, note }) => (
                <Fragment key={ability}>
                  <dt className={works ? "text-completed" : "text-muted"}>
                    {works ? "✓" : "–"} {ability}
                  </dt>
                  <dd>{note}</dd>
                </Fragment>
              ))}
            </dl>
          </div>
        ) : null}
        {result?.answered === false ? (
          <p className="rounded-md bg-failed-wash px-2.5 py-2 text-failed">
            <span className="font-medium">The test failed.</span> {result.message}
          </p>
        ) : null}
      </div>
    </FormDialog>
  );
}

/** Confirms, with the agents and tools that use the provider's models, then removes it. */
export function RemoveProvider({ provider: { name } }: { provider: OwnProvider }) {
  const trpc = useTRPC();
  const users = useQuery({ ...trpc.models.users.queryOptions({ name }), staleTime: 0 });
  const form = useForm(trpc.models.remove.mutationOptions(), {
    draft: {},
    refresh: [trpc.models.list, trpc.definitions.choices],
    done: () => `The model provider ${name} is removed`,
  });
  return (
    <ConfirmDialog
      {...form.dialog}
      act="Remove provider"
      acting="Removing"
      loading={users.isPending}
      onConfirm={() => form.send({ name })}
      title={`Remove ${name}`}
    >
      <p>Runs in progress use another provider from their next call on. Its key stays under Secrets.</p>
      <UsedBy
        effect="From then on they call the service's provider, which may not have these models."
        many="agents and tools use"
        one="agent or tool uses"
        users={users}
      />
    </ConfirmDialog>
  );
}
