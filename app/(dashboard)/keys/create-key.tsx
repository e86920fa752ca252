"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { useNow } from "@/app/_ui/figures/time";
import { ExpiryField } from "@/app/_ui/forms/expiry-field";
import { Choice, FieldGroup, TextField } from "@/app/_ui/forms/form";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { type KeyDraft, NEW_KEY, readDraft } from "./key-draft";
import { NewKeyDialog } from "./new-key-dialog";
import { TargetPicker } from "./target-picker";

const LABELS = {
  "/name": "Name",
  "/scopes": "Permissions",
  "/agents": "Agents",
  "/tools": "Tools",
  "/expiresAt": "The date",
  "/startsPerMinute": "Starts per minute",
  "/readsPerMinute": "Reads per minute",
  "/maxCredits": "Credits per run",
};

const PLAN_LIMIT = "Empty: the plan's limit.";
const LIMITS = [
  {
    field: "startsPerMinute",
    hint: PLAN_LIMIT,
    write: (text: string) => ({ startsPerMinute: text }),
  },
  { field: "readsPerMinute", hint: PLAN_LIMIT, write: (text: string) => ({ readsPerMinute: text }) },
  { field: "maxCredits", hint: "Empty: no cap.", write: (text: string) => ({ maxCredits: text }) },
] as const;

/** The form for a new key, then the new key itself, once. */
export function CreateKey({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const now = useNow();
  const [draft, setDraft] = useState(NEW_KEY);
  const [invalid, setInvalid] = useState<Record<string, string>>({});
  const directory = useQuery(trpc.catalog.directory.queryOptions());
  const create = useMutation(
    trpc.keys.create.mutationOptions({
      meta: { refresh: [trpc.catalog.keys.pathKey()] },
    }),
  );
  const targets = (directory.data ?? []).filter((entry) => entry.kind !== "trigger");
  if (create.data) {
    const { name, key } = create.data;
    const allowed = draft.limited ? targets.filter(({ id }) => draft.targetIds.includes(id)) : targets;
    return (
      <NewKeyDialog keyText={key} mayStart={draft.start} name={name} onClose={onClose} targets={allowed} />
    );
  }
  const problems = readProblems(create.error, LABELS);
  const errorAt = (path: string) => invalid[path] ?? problems.at(path);
  const unread = directory.isError
    ? "The agents and tools could not be read. Open the form again."
    : undefined;
  const change = (part: Partial<KeyDraft>) => setDraft((before) => ({ ...before, ...part }));

  function submit() {
    const { input, faults } = readDraft(draft, targets, now);
    setInvalid(faults);
    if (Object.keys(faults).length === 0) create.mutate(input);
  }

  return (
    <FormDialog
      act="Create key"
      acting="Creating"
      mutation={create}
      onClose={onClose}
      onSubmit={submit}
      problem={problems.rest}
      title="New API key"
    >
      <TextField
        autoFocus
        error={errorAt("/name")}
        hint="Name the program that uses the key, such as ci or shop."
        label="Name"
        maxLength={200}
        onChange={(name) => change({ name })}
        value={draft.name}
      />
      <FieldGroup error={errorAt("/scopes")} label="Permissions">
        <Choice checked={draft.start} onChange={(start) => change({ start })}>
          Start runs
        </Choice>
        <Choice checked={draft.read} onChange={(read) => change({ read })}>
          Read runs
        </Choice>
      </FieldGroup>
      <FieldGroup error={errorAt("/agents") ?? errorAt("/tools") ?? unread} label="Agents and tools">
        <Choice checked={!draft.limited} name="targets" onChange={() => change({ limited: false })}>
          All, also those created later
        </Choice>
        <Choice checked={draft.limited} name="targets" onChange={() => change({ limited: true })}>
          Only some
        </Choice>
        {draft.limited ? (
          <TargetPicker
            chosen={draft.targetIds}
            onChange={(targetIds) => change({ targetIds })}
            targets={targets}
          />
        ) : null}
      </FieldGroup>
      <ExpiryField error={errorAt("/expiresAt")} onChange={change} value={draft} what="The key" />
      <div className="grid gap-4 sm:grid-cols-3">
        {LIMITS.map(({ field, hint, write }) => (
          <TextField
            error={errorAt(`/${field}`)}
            hint={hint}
            inputMode="decimal"
            key={field}
            label={LABELS[`/${field}`]}
            onChange={(text) => change(write(text))}
            value={draft[field]}
          />
        ))}
      </div>
    </FormDialog>
  );
}
