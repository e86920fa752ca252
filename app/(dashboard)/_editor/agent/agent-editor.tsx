"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { useMemo } from "react";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { SelectField, TextareaField, TextField } from "@/app/_ui/forms/form";
import type { FormProblems } from "@/app/_ui/forms/form-problems";
import { lazy } from "@/app/_ui/lazy";
import { useMay } from "@/app/_ui/role";
import { EditorForm, EditorSection } from "@/app/(dashboard)/_editor/editor-form";
import { Picker } from "@/app/(dashboard)/_editor/picker";
import { SchemaField } from "@/app/(dashboard)/_editor/schema/schema-field";
import { copyName, slugOf } from "@/app/(dashboard)/_editor/slug";
import { EDITED_QUERY, type Opened, useEditor } from "@/app/(dashboard)/_editor/use-editor";
import type { Choices } from "@/server/catalog/edit-definition";
import {
  AGENT_LABELS,
  type AgentFields,
  fieldsOf,
  newAgent,
  readFields,
  toDefinition,
  toFields,
} from "./agent-fields";
import { ModelField } from "./model-field";
import { Policies } from "./policies";
import type { Starter } from "./starters";

/** Creates an agent, from a starter if one is given. */
export function NewAgent({ starter }: { starter: Starter | null }) {
  const trpc = useTRPC();
  const { data: choices } = useSuspenseQuery(trpc.definitions.choices.queryOptions());
  const [first] = choices.models;
  const fields = useMemo(() => ({ ...newAgent(first?.name ?? ""), ...starter?.fields }), [first, starter]);
  const back = { href: "/agents", label: "Agents" };
  return <AgentForm back={back} copied={starter?.slug ?? null} opened={null} saved={fields} />;
}

/** Creates an agent that begins as a copy of another. */
export function CopyAgent({ agentId }: { agentId: string }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.definitions.editAgent.queryOptions({ agentId }, EDITED_QUERY));
  const { definition } = data;
  const saved = useMemo(() => {
    const { slug, name, ...fields } = toFields(definition);
    return { ...fields, ...copyName({ slug, name }) };
  }, [definition]);
  const back = { href: `/agents/${agentId}`, label: definition.name };
  return <AgentForm back={back} copied={agentId} opened={null} saved={saved} />;
}

/** Edits an agent; saving makes a new version. */
export function EditAgent({ agentId }: { agentId: string }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.definitions.editAgent.queryOptions({ agentId }, EDITED_QUERY));
  const { definition, version } = data;
  const saved = useMemo(() => toFields(definition), [definition]);
  const back = { href: `/agents/${agentId}`, label: definition.name };
  return <AgentForm back={back} opened={{ id: agentId, version }} saved={saved} />;
}

/** It follows runs, which the form does not. */
const TryAgent = lazy(() => import("./try-agent"), "TryAgent");

function AgentForm({
  opened,
  copied = null,
  saved,
  back,
}: {
  opened: Opened;
  copied?: string | null;
  saved: AgentFields;
  back: { href: string; label: string };
}) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { data: choices } = useSuspenseQuery(trpc.definitions.choices.queryOptions());
  const editor = useEditor({
    kind: "agent",
    opened,
    copied,
    saved,
    read: readFields,
    labels: AGENT_LABELS,
    save: (fields, how) => client.definitions.saveAgent.mutate({ definition: toDefinition(fields), ...how }),
  });
  const mayEdit = useMay("member");
  const part: PartProps = {
    fields: editor.draft.value,
    set: (change) => editor.draft.change((before) => ({ ...before, ...change(before) })),
    errorAt: editor.problems.at,
    faultAt: (path) => editor.refused?.issues.find((issue) => issue.path === path)?.message,
    choices,
  };
  return (
    <EditorForm back={back} editor={editor} fieldsOf={fieldsOf} problems={editor.refused?.issues.length ?? 0}>
      <div className={clsx("grid flex-1", mayEdit && "xl:grid-cols-[minmax(0,1fr)_26rem]")}>
        <div className="min-w-0">
          <Identity {...part} isNew={opened === null} />
          <Prompt {...part} />
          <Attachments {...part} />
          <Answer {...part} />
          <Limits {...part} />
        </div>
        {mayEdit ? (
          <aside className="min-w-0 border-line bg-surface px-4 py-5 max-xl:border-t sm:px-6 xl:border-l">
            <div className="xl:sticky xl:top-5">
              <TryAgent editor={editor} />
            </div>
          </aside>
        ) : null}
      </div>
    </EditorForm>
  );
}

type PartProps = {
  fields: AgentFields;
  /** Changes fields, computed from the newest ones. */
  set: (change: (before: AgentFields) => Partial<AgentFields>) => void;
  errorAt: FormProblems["at"];
  /** What is wrong at exactly this JSON pointer. */
  faultAt: (path: string) => string | undefined;
  choices: Choices;
};

function Identity({ fields, set, errorAt, choices, isNew }: PartProps & { isNew: boolean }) {
  return (
    <EditorSection title="Identity">
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          autoFocus={isNew}
          error={errorAt("/name")}
          label="Name"
          onChange={(name) =>
            // The slug follows the name until it is changed by hand.
            set((before) =>
              isNew && before.slug === slugOf(before.name) ? { name, slug: slugOf(name) } : { name },
            )
          }
          value={fields.name}
        />
        <TextField
          disabled={!isNew}
          error={errorAt("/slug")}
          hint={isNew ? "Its name in YAML. It cannot be changed later." : "Its name in YAML."}
          label="Slug"
          onChange={(slug) => set(() => ({ slug }))}
          value={fields.slug}
        />
        <ModelField
          choices={choices}
          error={errorAt("/model")}
          onChange={(model) => set(() => ({ model }))}
          value={fields.model}
        />
        <SelectField
          error={errorAt("/status")}
          hint="An inactive agent refuses starts."
          label="Status"
          onChange={(status) => set(() => ({ status: status === "active" ? "active" : "inactive" }))}
          value={fields.status}
        >
          <option value="active">Active</option>
          <option value="inactive">Inactive</option>
        </SelectField>
      </div>
    </EditorSection>
  );
}

function Prompt({ fields, set, errorAt }: PartProps) {
  return (
    <EditorSection hint="What the agent is for, how it works, and how it answers." title="Prompt">
      <TextareaField
        error={errorAt("/systemPrompt")}
        label="System prompt"
        onChange={(systemPrompt) => set(() => ({ systemPrompt }))}
        look="prose"
        rows={14}
        value={fields.systemPrompt}
      />
    </EditorSection>
  );
}

function Attachments({ fields, set, errorAt, faultAt, choices }: PartProps) {
  return (
    <EditorSection hint="What the model may call." title="Tools and functions">
      <Picker
        error={errorAt("/tools")}
        label="Tools"
        none="There are no tools yet."
        onChange={(change) => set((before) => ({ tools: change(before.tools) }))}
        options={choices.tools.map(({ slug, name, description }) => ({ value: slug, name, description }))}
        value={fields.tools}
      />
      <Picker
        error={errorAt("/functions")}
        label="Functions"
        none=""
        onChange={(change) => set((before) => ({ functions: change(before.functions) }))}
        options={choices.functions.map(({ name, description }) => ({ value: name, name, description }))}
        value={fields.functions}
      />
      <Policies
        faultAt={faultAt}
        names={[...fields.tools, ...fields.functions]}
        onChange={(change) => set((before) => ({ policies: change(before.policies) }))}
        value={fields.policies}
      />
    </EditorSection>
  );
}

function Answer({ fields, set, errorAt }: PartProps) {
  return (
    <EditorSection title="Answer">
      <SchemaField
        error={errorAt("/outputSchema")}
        hint="With fields, the answer is JSON of this shape. Empty: the answer is text."
        isOptional
        label="Output schema"
        noun="field"
        onChange={(outputSchema) => set(() => ({ outputSchema }))}
        value={fields.outputSchema}
      />
    </EditorSection>
  );
}

function Limits({ fields, set, errorAt }: PartProps) {
  return (
    <EditorSection title="Limits">
      <div className="grid gap-4 sm:grid-cols-3">
        <TextField
          error={errorAt("/maxSteps")}
          hint="Model calls of one run, 1 to 12."
          inputMode="numeric"
          label="Max steps"
          onChange={(maxSteps) => set(() => ({ maxSteps }))}
          value={fields.maxSteps}
        />
        <TextField
          error={errorAt("/maxCredits")}
          hint="The most that one run may use. Empty: no cap."
          inputMode="decimal"
          label="Credits per run"
          onChange={(maxCredits) => set(() => ({ maxCredits }))}
          value={fields.maxCredits}
        />
        <TextField
          error={errorAt("/deadlineSeconds")}
          hint="The time limit of one run, up to a day."
          inputMode="numeric"
          label="Deadline in seconds"
          onChange={(deadlineSeconds) => set(() => ({ deadlineSeconds }))}
          value={fields.deadlineSeconds}
        />
      </div>
    </EditorSection>
  );
}
