"use client";

import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { buttonClass } from "@/app/_ui/button";
import { OneTimeValue } from "@/app/_ui/copy-button";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { DoneDialog } from "@/app/_ui/dialog";
import { Choice, FieldGroup, TextareaField, TextField } from "@/app/_ui/forms/form";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import { Link } from "@/app/_ui/link";
import type { CallbackDetail } from "@/server/catalog/callbacks/list-callbacks";
import { CALLBACK_EVENTS } from "@/server/contract/enums";
import { rename } from "../../_editor/slug";
import { EVENT_LABELS } from "../describe-events";
import { draftOf, type FilterTarget, listChoices, NEW_CALLBACK, readDraft } from "./callback-draft";

const LABELS = {
  "/name": "Name",
  "/slug": "Slug",
  "/url": "Address",
  "/events": "Events",
  "/creditsBelow": "Credits below",
  "/agents": "Agents",
  "/tools": "Tools",
  "/triggers": "Triggers",
  "/metadata": "Metadata",
};

type CallbackFormProps = { callback?: CallbackDetail | null };

/** The form for a callback, then the secret of a new one, once. */
export function CallbackForm({ callback = null }: CallbackFormProps) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const directory = useQuery(trpc.catalog.directory.queryOptions());
  const form = useForm(
    {
      mutationFn: async (definition: ReturnType<typeof readDraft>["definition"]) => {
        if (callback === null) return client.callbacks.create.mutate(definition);
        await client.callbacks.update.mutate({ ...definition, replaces: callback.facts });
        return null;
      },
    },
    {
      draft: callback === null ? NEW_CALLBACK : draftOf(callback),
      labels: LABELS,
      refresh: [trpc.callbacks],
      done: (created) => (created === null ? "Callback saved" : undefined),
    },
  );
  const { draft, change, errorAt, field, result } = form;
  if (result) return <CreatedDialog created={result} name={draft.name} />;
  const unread = directory.isLoadingError
    ? "Could not load agents, tools and triggers. Open the form again."
    : undefined;
  function submit() {
    const { definition, issues } = readDraft(draft, callback);
    form.send(definition, issues);
  }
  return (
    <FormDialog
      {...form.dialog}
      act={callback === null ? "Create callback" : "Save"}
      acting={callback === null ? "Creating" : "Saving"}
      onSubmit={submit}
      title={callback === null ? "New callback" : `Edit ${callback.name}`}
      wide
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          {...field("name")}
          autoFocus
          hint="Name the system that gets the events."
          maxLength={200}
          onChange={(name) => change(callback === null ? rename(draft, name) : { name })}
        />
        <TextField
          {...field("slug")}
          code
          disabled={callback !== null}
          hint="Its name in definition files."
          maxLength={64}
        />
      </div>
      <TextField
        {...field("url")}
        code
        hint="It answers each event with a 2xx status within 10 seconds."
        inputMode="url"
        placeholder="https://erp.example.com/hooks/stepwell"
      />
      <FieldGroup error={errorAt("/events")} label="Events">
        {CALLBACK_EVENTS.map((type) => (
          <Choice
            checked={draft.events.includes(type)}
            key={type}
            onChange={(on) =>
              change({
                events: CALLBACK_EVENTS.filter((each) => (each === type ? on : draft.events.includes(each))),
              })
            }
          >
            {EVENT_LABELS[type]} <span className="mono text-muted">{type}</span>
          </Choice>
        ))}
      </FieldGroup>
      {draft.events.includes("credits.low") ? (
        <TextField
          {...field("creditsBelow")}
          hint="credits.low is sent when fewer credits are left, including those that open runs hold."
          inputMode="decimal"
        />
      ) : null}
      <FieldGroup
        error={
          errorAt("/agents") ??
          errorAt("/tools") ??
          errorAt("/triggers") ??
          (draft.limited ? unread : undefined)
        }
        label="Runs"
      >
        <Choice checked={!draft.limited} name="limited" onChange={() => change({ limited: false })}>
          All runs that no other run started
        </Choice>
        <Choice checked={draft.limited} name="limited" onChange={() => change({ limited: true })}>
          Only some
        </Choice>
        {draft.limited ? (
          <Picker
            choices={listChoices(directory.data ?? [], callback)}
            chosen={draft.chosen}
            onChange={(chosen) => change({ chosen })}
            read={directory.data === undefined ? directory.status : "success"}
          />
        ) : null}
      </FieldGroup>
      {draft.limited ? (
        <TextareaField
          {...field("metadata")}
          code
          hint="Only runs that were started with these pairs in X-Metadata, one a line, such as shop = no."
        />
      ) : null}
    </FormDialog>
  );
}

type PickerProps = {
  choices: readonly FilterTarget[];
  chosen: readonly FilterTarget[];
  onChange: (chosen: FilterTarget[]) => void;
  /** If all choices are read. */
  read: "pending" | "error" | "success";
};

function Picker({ choices, chosen, onChange, read }: PickerProps) {
  if (choices.length === 0 && read !== "pending")
    return read === "error" ? null : <p className="text-muted">No agents, tools and triggers exist.</p>;
  return (
    <div
      aria-busy={read === "pending"}
      className={clsx(
        "overflow-y-auto rounded-md border border-line-strong px-2.5 py-1",
        // The height of a list that is long enough to scroll, so that the fields below stay in place.
        read === "pending" ? "h-44" : "max-h-44",
      )}
    >
      {choices.map((choice) => (
        <Choice
          checked={chosen.some(({ id }) => id === choice.id)}
          key={choice.id}
          onChange={(on) => onChange(on ? [...chosen, choice] : chosen.filter(({ id }) => id !== choice.id))}
        >
          {choice.name}{" "}
          <span className="text-muted">
            {choice.kind}
            {choice.archived ? ", archived" : ""}
          </span>
        </Choice>
      ))}
    </div>
  );
}

function CreatedDialog({ name, created }: { name: string; created: { id: string; secret: string | null } }) {
  return (
    <DoneDialog
      actions={
        <Link className={buttonClass()} href={`/callbacks/${created.id}`}>
          Open the callback
        </Link>
      }
      sticky
      title={`Callback ${name} created`}
      wide
    >
      {created.secret === null ? null : (
        <OneTimeValue
          label="Secret"
          value={created.secret}
          warning="Copy it now into the receiver's settings. It is not shown again."
        />
      )}
      <p className="text-muted">
        The receiver verifies signatures with it:{" "}
        <Link className="text-accent underline" href="/docs/callbacks#verify-the-signature">
          how to
        </Link>
        .
      </p>
    </DoneDialog>
  );
}
