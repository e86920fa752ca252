"use client";

import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useId, useMemo } from "react";
import { INPUT_CLASS } from "@/app/_ui/field";
import { useTRPC } from "@/app/_ui/providers";
import { describeError } from "@/app/_ui/query-client";
import { useNotify } from "@/app/_ui/toast";
import type { Choices } from "@/server/catalog/edit-definition";
import { type AgentFields, newAgent, readFields, toDefinition } from "./agent-fields";
import { EditorBar } from "./editor-bar";
import { EditorHead } from "./editor-head";
import { EditorSection, Labelled } from "./labelled";
import { Picker } from "./picker";
import { slugOf } from "./slug";
import { useDraft } from "./use-draft";

/** Creates an agent. */
export function NewAgent() {
  const fields = useMemo(newAgent, []);
  return (
    <AgentForm agentId={null} back={{ href: "/agents", label: "Agents" }} saved={fields} version={null} />
  );
}

/** Edits an agent; saving makes a new version. */
export function EditAgent({ agentId }: { agentId: string }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.definitions.editAgent.queryOptions({ agentId }, { staleTime: 0 }));
  const { definition, version } = data;
  const saved = useMemo(
    (): AgentFields => ({
      ...definition,
      maxSteps: String(definition.maxSteps),
      maxCredits: definition.maxCredits ?? "",
      deadlineSeconds: String(definition.deadlineSeconds),
    }),
    [definition],
  );
  const back = { href: `/agents/${agentId}`, label: definition.name };
  return <AgentForm agentId={agentId} back={back} key={version} saved={saved} version={version} />;
}

function AgentForm({
  agentId,
  version,
  saved,
  back,
}: {
  agentId: string | null;
  version: number | null;
  saved: AgentFields;
  back: { href: string; label: string };
}) {
  const trpc = useTRPC();
  const router = useRouter();
  const notify = useNotify();
  const queryClient = useQueryClient();
  const { data: choices } = useSuspenseQuery(trpc.definitions.choices.queryOptions());
  const draft = useDraft(agentId === null ? "agent.new" : `agent.${agentId}.${version}`, saved, readFields);
  const { value: fields } = draft;
  const set = (change: Partial<AgentFields>) => draft.set({ ...fields, ...change });
  const save = useMutation(
    trpc.definitions.saveAgent.mutationOptions({
      onSuccess: async (agent) => {
        draft.discard();
        await Promise.all([
          queryClient.invalidateQueries({ queryKey: trpc.definitions.pathKey() }),
          queryClient.invalidateQueries({ queryKey: trpc.catalog.pathKey() }),
        ]);
        const what =
          agent.saved === "unchanged" ? "Nothing had changed" : `Version ${agent.version} is current`;
        notify(agentId === null ? "The agent was created" : "The agent was saved", what);
        router.push(`/agents/${agent.id}`);
      },
    }),
  );
  const error = save.isError ? describeError(save.error) : null;
  const problemsOf = (field: keyof AgentFields) =>
    (error?.issues ?? [])
      .filter(({ path }) => path === `/${field}` || path.startsWith(`/${field}/`))
      .map(({ message }) => message);
  const submit = () => {
    const only = agentId === null ? "create" : "update";
    const definition = toDefinition(fields);
    save.mutate({ definition, expected: version === null ? { only } : { only, version } });
  };
  return (
    <form
      className="flex min-h-[calc(100dvh-3rem)] flex-col md:min-h-dvh"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <EditorHead
        back={back}
        note={version === null ? "" : `from v${version}`}
        title={agentId === null ? "New agent" : "Edit agent"}
      />
      <div className="max-w-3xl flex-1">
        <Identity
          choices={choices}
          fields={fields}
          isNew={agentId === null}
          problemsOf={problemsOf}
          set={set}
        />
        <EditorSection hint="What the agent is for, how it works, and how it answers." title="Prompt">
          <Labelled label="System prompt" problems={problemsOf("systemPrompt")}>
            {(props) => (
              <textarea
                {...props}
                className="min-h-64 w-full resize-y rounded-md border border-input-line bg-canvas p-3 leading-6"
                onChange={(event) => set({ systemPrompt: event.target.value })}
                value={fields.systemPrompt}
              />
            )}
          </Labelled>
        </EditorSection>
        <EditorSection hint="What the model may call." title="Tools and functions">
          <Picker
            label="Tools"
            none="There are no tools yet."
            onChange={(tools) => set({ tools })}
            options={choices.tools.map(({ slug, name, description }) => ({ value: slug, name, description }))}
            problems={problemsOf("tools")}
            value={fields.tools}
          />
          <Picker
            label="Functions"
            none=""
            onChange={(functions) => set({ functions })}
            options={choices.functions.map(({ name, description }) => ({ value: name, name, description }))}
            problems={problemsOf("functions")}
            value={fields.functions}
          />
        </EditorSection>
        <Limits fields={fields} problemsOf={problemsOf} set={set} />
      </div>
      <EditorBar
        busy={save.isPending}
        changed={draft.changed}
        error={error}
        onDiscard={() => {
          draft.discard();
          save.reset();
        }}
        onSave={submit}
        problems={error?.issues.length ?? 0}
        restored={draft.restored}
        saveLabel={version === null ? "Create agent" : "Save"}
      />
    </form>
  );
}

type PartProps = {
  fields: AgentFields;
  set: (change: Partial<AgentFields>) => void;
  problemsOf: (field: keyof AgentFields) => string[];
};

function Identity({
  fields,
  set,
  problemsOf,
  choices,
  isNew,
}: PartProps & { choices: Choices; isNew: boolean }) {
  const models = useId();
  const setName = (name: string) => {
    // The slug follows the name until it is changed by hand.
    const follows = isNew && fields.slug === slugOf(fields.name);
    set(follows ? { name, slug: slugOf(name) } : { name });
  };
  return (
    <EditorSection title="Identity">
      <div className="grid gap-4 sm:grid-cols-2">
        <Labelled label="Name" problems={problemsOf("name")}>
          {(props) => (
            <input
              {...props}
              className={INPUT_CLASS}
              onChange={(event) => setName(event.target.value)}
              value={fields.name}
            />
          )}
        </Labelled>
        <Labelled
          hint={isNew ? "Its name in YAML. It cannot be changed later." : "Its name in YAML."}
          label="Slug"
          problems={problemsOf("slug")}
        >
          {(props) => (
            <input
              {...props}
              className={`${INPUT_CLASS} mono disabled:opacity-60`}
              disabled={!isNew}
              onChange={(event) => set({ slug: event.target.value })}
              value={fields.slug}
            />
          )}
        </Labelled>
        <Labelled hint="Any model of a configured provider." label="Model" problems={problemsOf("model")}>
          {(props) => (
            <>
              <input
                {...props}
                className={`${INPUT_CLASS} mono`}
                list={models}
                onChange={(event) => set({ model: event.target.value })}
                value={fields.model}
              />
              <datalist id={models}>
                {choices.models.map((model) => (
                  <option key={model} value={model} />
                ))}
              </datalist>
            </>
          )}
        </Labelled>
        <Labelled hint="An inactive agent refuses starts." label="Status" problems={problemsOf("status")}>
          {(props) => (
            <select
              {...props}
              className={INPUT_CLASS}
              onChange={(event) => set({ status: event.target.value === "active" ? "active" : "inactive" })}
              value={fields.status}
            >
              <option value="active">active</option>
              <option value="inactive">inactive</option>
            </select>
          )}
        </Labelled>
      </div>
    </EditorSection>
  );
}

function Limits({ fields, set, problemsOf }: PartProps) {
  return (
    <EditorSection title="Limits">
      <div className="grid gap-4 sm:grid-cols-3">
        <Labelled hint="Model calls of one run, 1 to 12." label="Max steps" problems={problemsOf("maxSteps")}>
          {(props) => (
            <input
              {...props}
              className={INPUT_CLASS}
              inputMode="numeric"
              onChange={(event) => set({ maxSteps: event.target.value })}
              value={fields.maxSteps}
            />
          )}
        </Labelled>
        <Labelled hint="Empty: no cap." label="Most credits per run" problems={problemsOf("maxCredits")}>
          {(props) => (
            <input
              {...props}
              className={INPUT_CLASS}
              inputMode="decimal"
              onChange={(event) => set({ maxCredits: event.target.value })}
              value={fields.maxCredits}
            />
          )}
        </Labelled>
        <Labelled
          hint="The time limit of one run, up to a day."
          label="Deadline in seconds"
          problems={problemsOf("deadlineSeconds")}
        >
          {(props) => (
            <input
              {...props}
              className={INPUT_CLASS}
              inputMode="numeric"
              onChange={(event) => set({ deadlineSeconds: event.target.value })}
              value={fields.deadlineSeconds}
            />
          )}
        </Labelled>
      </div>
    </EditorSection>
  );
}
