"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { CopyTextButton, OneTimeValue } from "@/app/_ui/copy-button";
import { curlOf } from "@/app/_ui/curl";
import { useTRPC } from "@/app/_ui/data/providers";
import { DoneDialog } from "@/app/_ui/dialog";
import { Ago } from "@/app/_ui/figures/time";
import { ExpiryField, useExpiry } from "@/app/_ui/forms/expiry-field";
import { Choice, FieldGroup, INPUT_CLASS, TextField } from "@/app/_ui/forms/form";
import { ConfirmDialog, FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import { Command } from "@/app/_ui/page/page";
import { SCOPE_TEXTS } from "@/server/base/actor";
import type { DirectoryEntry, KeyLine } from "@/server/catalog/overview";
import { MAX_NAME_LENGTH } from "@/server/contract/limits";
import { EMPTY_KEY, readDraft, withScope } from "./key-draft";
import { SCOPE_GROUPS } from "./scopes";

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

const LIMITS = [
  ["startsPerMinute", "Empty: the plan's limit."],
  ["readsPerMinute", "Empty: the plan's limit."],
  ["maxCredits", "Empty: no cap."],
] as const;

/** The form for a new key, then the new key itself, once. */
export function CreateKey() {
  const trpc = useTRPC();
  const expiry = useExpiry();
  const directory = useQuery(trpc.catalog.directory.queryOptions());
  const { draft, change, errorAt, field, ...form } = useForm(trpc.keys.create.mutationOptions(), {
    draft: EMPTY_KEY,
    labels: LABELS,
    refresh: [trpc.catalog.keys],
  });
  const targets = (directory.data ?? []).filter((entry) => entry.kind !== "trigger");
  if (form.result) {
    const { name, key } = form.result;
    const allowed = draft.limited ? targets.filter(({ id }) => draft.targetIds.includes(id)) : targets;
    const startable = draft.scopes.includes("runs:start") ? allowed : [];
    return <NewKeyDialog keyText={key} name={name} targets={startable} />;
  }
  const unread = directory.isError ? "Could not load agents and tools. Open the form again." : undefined;

  function submit() {
    const { input, issues } = readDraft(draft, targets);
    form.send({ ...input, ...expiry.sent }, { ...issues, ...expiry.issues });
  }

  return (
    <FormDialog {...form.dialog} act="Create key" acting="Creating" onSubmit={submit} title="New API key">
      <TextField
        {...field("name")}
        autoFocus
        hint="Name the program that uses the key, such as ci or shop."
        maxLength={MAX_NAME_LENGTH}
      />
      <FieldGroup error={errorAt("/scopes")} label="Permissions">
        {SCOPE_GROUPS.map((group) => (
          <fieldset className="min-w-0" key={group.label}>
            <legend className="text-muted text-xs">{group.label}</legend>
            {group.scopes.map((scope) => (
              <Choice
                checked={draft.scopes.includes(scope)}
                key={scope}
                onChange={(on) => change({ scopes: withScope(draft.scopes, scope, on) })}
              >
                {SCOPE_TEXTS[scope].label} <span className="text-muted">{SCOPE_TEXTS[scope].may}.</span>
              </Choice>
            ))}
          </fieldset>
        ))}
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
      <ExpiryField {...expiry.field} error={errorAt("/expiresAt")} what="The key" />
      <div className="grid gap-4 sm:grid-cols-3">
        {LIMITS.map(([name, hint]) => (
          <TextField {...field(name)} hint={hint} inputMode="decimal" key={name} />
        ))}
      </div>
    </FormDialog>
  );
}

type TargetPickerProps = {
  targets: readonly DirectoryEntry[];
  chosen: readonly string[];
  onChange: (ids: string[]) => void;
};

function TargetPicker({ targets, chosen, onChange }: TargetPickerProps) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const shown = targets.filter(({ name, slug }) => `${name} ${slug}`.toLowerCase().includes(wanted));
  return (
    <div className="flex flex-col overflow-hidden rounded-md border border-line-strong">
      <input
        aria-label="Search agents and tools"
        className={`${INPUT_CLASS} rounded-b-none border-0 border-line border-b`}
        onChange={(event) => setText(event.target.value)}
        placeholder="Search agents and tools"
        type="search"
        value={text}
      />
      <div className="max-h-44 overflow-y-auto px-2.5 py-1">
        {shown.map(({ id, kind, name }) => (
          <Choice
            checked={chosen.includes(id)}
            key={id}
            onChange={(on) => onChange(on ? [...chosen, id] : chosen.filter((each) => each !== id))}
          >
            {name} <span className="text-muted">{kind}</span>
          </Choice>
        ))}
        {shown.length === 0 ? <p className="py-1 text-muted">No agent or tool matches.</p> : null}
      </div>
      <p aria-live="polite" className="border-line border-t bg-surface px-2.5 py-1 text-muted text-xs">
        {chosen.length} selected
      </p>
    </div>
  );
}

type NewKeyDialogProps = {
  name: string;
  keyText: string;
  targets: readonly DirectoryEntry[];
};

function NewKeyDialog({ name, keyText, targets }: NewKeyDialogProps) {
  const target = targets.find(({ kind }) => kind === "agent") ?? targets[0];
  const line = target && `API_KEY=${keyText}\n${callOf(target)}`;
  return (
    <DoneDialog sticky title={`Key ${name} created`} wide>
      <OneTimeValue
        label="Key"
        value={keyText}
        warning="Copy it now. Only its hash is stored, so it is not shown again."
      />
      {line ? (
        <section aria-label="Try it" className="flex flex-col gap-1.5">
          <div className="flex items-center justify-between gap-2">
            <h3 className="min-w-0 font-medium">Start a run of {target.name}</h3>
            <CopyTextButton label="Copy curl" text={line} />
          </div>
          <Command>{line}</Command>
        </section>
      ) : null}
    </DoneDialog>
  );
}

function callOf({ kind, id }: DirectoryEntry): string {
  const url = `${window.location.origin}/v1/${kind}s/run/${id}`;
  return curlOf({ url, body: kind === "agent" ? '{"userMessage":"Hello"}' : "{}" });
}

export function RevokeKey({ line: { id, name, prefix, lastUsedAt } }: { line: KeyLine }) {
  const trpc = useTRPC();
  const form = useForm(trpc.keys.revoke.mutationOptions(), {
    draft: {},
    refresh: [trpc.catalog.keys],
    done: () => `The key ${name} is revoked`,
  });
  return (
    <ConfirmDialog
      {...form.dialog}
      act="Revoke key"
      acting="Revoking"
      onConfirm={() => form.send({ id })}
      title={`Revoke ${name}`}
    >
      <p>
        Programs that use <span className="mono">{prefix}…</span> get status 401 immediately. This cannot be
        undone.
      </p>
      <p className="text-muted">
        {lastUsedAt ? (
          <>
            The key was last used <Ago at={lastUsedAt} />.
          </>
        ) : (
          "The key was never used."
        )}{" "}
        Runs that it started continue.
      </p>
    </ConfirmDialog>
  );
}
