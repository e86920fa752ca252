"use client";

import { skipToken, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { CodeField } from "@/app/_ui/editor/code-field";
import { readPointer } from "@/app/_ui/editor/text/position";
import { SelectField, TextField } from "@/app/_ui/forms/form";
import { lazy } from "@/app/_ui/lazy";
import { ModelField } from "@/app/(dashboard)/model-field";
import type { Field } from "../../_schema/field";
import { controlOf } from "../../_schema/value";
import { EditorForm, EditorSection } from "../editor-form";
import { SchemaField } from "../schema/schema-field";
import { copyName, rename } from "../slug";
import { EDITED_QUERY, type EditorProps, useEditor } from "../use-editor";
import {
  type AgentFields,
  fieldsOf,
  followStatus,
  furtherFields,
  isAgentFields,
  labelsOf,
  readDefinition,
  readNumber,
  toDefinition,
  unversionedOf,
} from "./agent-fields";
import { FallbackFields } from "./fallback-fields";
import { MoreSettings } from "./more-settings";
import { Picker } from "./picker";
import { PolicyTable } from "./policies";
import { SettingField } from "./setting-field";
import type { Starter } from "./starters";

const TryAgent = lazy(() => import("./try-agent"), "TryAgent");

/** Creates an agent, from a starter or another agent if one is given, or edits one; saving makes a new version. */
export function AgentEditor({
  mode,
  id,
  starter,
}: EditorProps & { starter?: Starter["fields"] | undefined }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { data: choices } = useSuspenseQuery(trpc.definitions.choices.queryOptions());
  const { data: existing } = useQuery(
    trpc.definitions.editAgent.queryOptions(id === null ? skipToken : { agentId: id }, EDITED_QUERY),
  );
  const [model] = choices.models;
  const saved = useMemo((): AgentFields => {
    if (existing === undefined) return { ...choices.blankAgent, model: model?.name ?? "", ...starter };
    const definition = readDefinition(existing);
    return mode === "copy" ? { ...definition, ...copyName(definition) } : definition;
  }, [choices.blankAgent, existing, mode, model, starter]);
  const labels = labelsOf(choices.agentFields);
  const editor = useEditor({
    kind: "agent",
    mode,
    id,
    existing: existing && { version: existing.version, unversioned: unversionedOf(existing.definition) },
    starter: starter?.slug,
    saved,
    isValue: isAgentFields,
    follow: (draft) => followStatus(draft, saved.status),
    labels,
    save: (fields, how) => client.definitions.saveAgent.mutate({ definition: toDefinition(fields), ...how }),
  });
  const isNew = editor.opened === null;
  const issues = editor.rejected?.issues ?? [];
  const fields = editor.draft.value;
  const errorAt = editor.problems.at;
  const set = (change: (before: AgentFields) => Partial<AgentFields>) =>
    editor.draft.change((before) => ({ ...before, ...change(before) }));
  const bind = (name: string) => ({
    label: labels[`/${name}`] ?? name,
    error: errorAt(`/${name}`),
    value: String(new Map<string, unknown>(Object.entries(fields)).get(name) ?? ""),
    onChange: (text: string) => set(() => ({ [name]: text })),
  });
  const number = (name: string) => ({
    ...bind(name),
    inputMode: "numeric" as const,
    onChange: (text: string) => set(() => ({ [name]: readNumber(text) })),
  });
  const showSetting = (field: Field) => (
    <SettingField
      error={errorAt(`/${field.name}`)}
      field={field}
      isOptional={!Object.hasOwn(choices.blankAgent, field.name)}
      key={field.name}
      label={labels[`/${field.name}`] ?? field.name}
      onChange={(value) => set(() => ({ [field.name]: value }))}
      value={new Map<string, unknown>(Object.entries(fields)).get(field.name)}
    />
  );
  const { main, more, limits } = furtherFields(choices.agentFields);
  const attached = [
    ...choices.tools.map(({ slug, name: title }) => ({ name: slug, title })),
    ...choices.functions,
  ].filter(({ name }) => fields.tools.includes(name) || fields.functions.includes(name));
  return (
    <EditorForm editor={editor} fieldsOf={fieldsOf} problems={issues.length}>
      <div className="grid flex-1 xl:grid-cols-[minmax(0,1fr)_26rem]">
        <div className="min-w-0">
          <EditorSection title="Identity">
            <div className="grid gap-4 sm:grid-cols-3">
              <TextField
                {...bind("name")}
                autoFocus={isNew}
                onChange={(name) => set((before) => (isNew ? rename(before, name) : { name }))}
              />
              <TextField
                {...bind("slug")}
                disabled={!isNew}
                hint={isNew ? "Its name in YAML. It cannot be changed later." : "Its name in YAML."}
              />
              <SelectField {...bind("status")} hint="An inactive agent rejects starts.">
                <option value="active">Active</option>
                <option value="inactive">Inactive</option>
              </SelectField>
            </div>
          </EditorSection>
          <EditorSection title="Model calls">
            <div className="grid gap-4 sm:grid-cols-2">
              <ModelField {...bind("model")} choices={choices} />
              {main.map((field) =>
                controlOf(field) === "choice" ? (
                  <div className="sm:col-span-2" key={field.name}>
                    {showSetting(field)}
                  </div>
                ) : (
                  showSetting(field)
                ),
              )}
              <FallbackFields
                choices={choices}
                error={errorAt("/fallbackModels")}
                model={fields.model}
                onChange={(change) =>
                  set(({ fallbackModels }) => {
                    const changed = change(fallbackModels ?? []);
                    return { fallbackModels: changed.length > 0 ? changed : undefined };
                  })
                }
                value={fields.fallbackModels ?? []}
              />
            </div>
            <MoreSettings
              isUsed={more.some(({ name }) => Object.hasOwn(saved, name))}
              isWrong={more.some(({ name }) => errorAt(`/${name}`) !== undefined)}
              labels={more.map(({ name }) => labels[`/${name}`] ?? name)}
            >
              {more.map(showSetting)}
            </MoreSettings>
          </EditorSection>
          <EditorSection hint="What the agent is for, how it works, and how it answers." title="Prompt">
            <CodeField
              {...bind("systemPrompt")}
              completions={{ names: attached }}
              language="prompt"
              look="block"
            />
          </EditorSection>
          <EditorSection hint="What the model may call." title="Tools and functions">
            <Picker
              error={errorAt("/tools")}
              label="Tools"
              none="There are no tools yet."
              onChange={(change) => set(({ tools }) => ({ tools: change(tools) }))}
              options={choices.tools.map(({ slug, ...tool }) => ({ value: slug, ...tool }))}
              value={fields.tools}
            />
            <Picker
              error={errorAt("/functions")}
              label="Functions"
              none=""
              onChange={(change) => set(({ functions }) => ({ functions: change(functions) }))}
              options={choices.functions.map((each) => ({ value: each.name, ...each }))}
              value={fields.functions}
            />
            <PolicyTable
              issueAt={(path) => issues.find((issue) => issue.path === path)?.message}
              names={[...fields.tools, ...fields.functions]}
              onChange={(change) => set(({ policies }) => ({ policies: change(policies) }))}
              value={fields.policies}
            />
          </EditorSection>
          <EditorSection title="Answer">
            <SchemaField
              error={errorAt("/outputSchema")}
              hint="With fields, the answer is JSON of this shape. Empty: the answer is text."
              isOptional
              label="Output schema"
              noun="field"
              onChange={(outputSchema) => set(() => ({ outputSchema }))}
              problems={issues
                .filter(({ path }) => path.startsWith("/outputSchema"))
                .map(({ path, message }) => ({ path: readPointer(path).slice(1), message }))}
              value={fields.outputSchema}
            />
          </EditorSection>
          <EditorSection title="Limits">
            <div className="grid gap-4 sm:grid-cols-3">
              {limits.map(showSetting)}
              <TextField
                {...bind("maxCredits")}
                hint="The most that one run may use. Empty: no cap."
                inputMode="decimal"
                onChange={(text) => set(() => ({ maxCredits: text.trim() || null }))}
              />
              <TextField {...number("deadlineSeconds")} hint="The time limit of one run, up to a day." />
            </div>
          </EditorSection>
        </div>
        <aside className="min-w-0 border-line bg-surface px-4 py-5 max-xl:border-t sm:px-6 xl:border-l">
          <div className="xl:sticky xl:top-5">
            <TryAgent editor={editor} labels={labels} />
          </div>
        </aside>
      </div>
    </EditorForm>
  );
}
