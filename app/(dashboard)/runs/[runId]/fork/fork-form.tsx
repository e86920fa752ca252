import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useEffect, useEffectEvent, useMemo, useState } from "react";
import { Button } from "@/app/_ui/button";
import { useOrganizationAddress } from "@/app/_ui/data/page-organization";
import { useTRPC } from "@/app/_ui/data/providers";
import { CodeEditor } from "@/app/_ui/editor/code-editor";
import { CodeField } from "@/app/_ui/editor/code-field";
import { Choice, FieldGroup, OptionField, TextField } from "@/app/_ui/forms/form";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import { usePayload } from "@/app/_ui/text/use-payload";
import { ModelField } from "@/app/(dashboard)/model-field";
import type { PayloadPreview } from "@/server/runs/read/inspect/payload-preview";
import {
  changesOf,
  describeLineChanges,
  editableJson,
  FORK_LABELS,
  type ForkBase,
  type ForkDraft,
  findDraftIssues,
  STEP_CHANGES,
} from "./fork-draft";
import { ForkEffects } from "./fork-effects";
import type { ForkDialogProps } from "./fork-point";

const TEXTS = ["systemPrompt", "userMessage"] as const;

type ForkFormProps = ForkDialogProps & { base: ForkBase; onStarted: (forkId: string) => void };

export function ForkForm({ run, point, own, base, onClose, onStarted }: ForkFormProps) {
  const [initial] = useState<ForkDraft>({
    ...base,
    change: "none",
    value: null,
    tools: "recorded",
    maxCredits: "",
  });
  const { dialog, draft, change, send, errorAt, field } = useForm(useTRPC().runs.fork.mutationOptions(), {
    draft: initial,
    labels: FORK_LABELS,
    done: ({ runId }) => {
      onStarted(runId);
      return null;
    },
    onClose,
  });
  const { fromStep, step } = point;
  const submit = () => {
    const issues = findDraftIssues(draft);
    const { tools, maxCredits } = draft;
    const cap = maxCredits.trim() === "" ? {} : { maxCredits: maxCredits.trim() };
    const changes = Object.keys(issues).length === 0 ? changesOf(draft, base) : {};
    send({ runId: run.id, fromStep, tools, changes, ...cap }, issues);
  };
  return (
    <FormDialog
      {...dialog}
      act="Start fork"
      acting="Starting"
      dismiss="Close"
      onClose={onClose}
      onSubmit={submit}
      title={`Fork from ${point.name}`}
      wide
    >
      <p className="text-muted">
        A new run takes over what came before and continues with your changes. This run stays as it is.
      </p>
      <div className="grid gap-x-6 gap-y-4 md:grid-cols-[minmax(0,1fr)_15rem]">
        <div className="flex min-w-0 flex-col gap-4">
          {base.model === null ? null : (
            <Model
              error={errorAt("/changes/model")}
              onChange={(model) => change({ model })}
              value={draft.model ?? ""}
              was={base.model}
            />
          )}
          {TEXTS.map((name) => {
            const was = base[name];
            return was === null ? null : (
              <ChangedText
                error={errorAt(`/changes/${name}`)}
                key={name}
                label={FORK_LABELS[`/changes/${name}`]}
                onChange={(text) => change({ [name]: text })}
                value={draft[name] ?? was}
                was={was}
              />
            );
          })}
          {base.versions.length > 1 && base.model === null ? (
            <OptionField
              error={errorAt("/changes/toolVersion")}
              hint={draft.toolVersion === base.toolVersion ? undefined : `Was ${base.toolVersion}`}
              label="Version of the tool"
              onChange={(version) => change({ toolVersion: Number(version) })}
              options={base.versions.map((version) => ({
                value: String(version),
                label: `Version ${version}`,
              }))}
              value={String(draft.toolVersion)}
            />
          ) : null}
          {step === null ? null : (
            <StepChange
              draft={draft}
              error={errorAt("/changes/input") ?? errorAt("/changes/output")}
              onChange={change}
              runId={run.id}
              stepId={step.id}
              stepName={step.name}
            />
          )}
          <FieldGroup label="Functions and tools">
            <Choice
              checked={draft.tools === "recorded"}
              name="fork-tools"
              onChange={() => change({ tools: "recorded" })}
            >
              <b className="font-medium">Recorded</b>
              <span className="block text-muted">
                The same call gets the recorded answer. Any other call fails.
              </span>
            </Choice>
            <Choice
              checked={draft.tools === "live"}
              name="fork-tools"
              onChange={() => change({ tools: "live" })}
            >
              <b className="font-medium">Live</b>
              <span className="block text-muted">Calls are made for real, with their effects.</span>
            </Choice>
          </FieldGroup>
        </div>
        <aside aria-label="The fork's effects" className="flex min-w-0 flex-col gap-4">
          <ForkEffects base={base} draft={draft} own={own} point={point} run={run} />
          <TextField
            {...field("maxCredits")}
            error={errorAt("/maxCredits")}
            hint="In credits. The fork fails before it uses more."
            inputMode="decimal"
            label="Highest cost"
            placeholder="No cap of its own"
          />
        </aside>
      </div>
    </FormDialog>
  );
}

function Model({
  was,
  ...props
}: {
  value: string;
  was: string;
  error: string | undefined;
  onChange: (model: string) => void;
}) {
  const { data: choices } = useQuery(useTRPC().definitions.choices.queryOptions());
  return (
    <div className="flex flex-col gap-1.5">
      {choices === undefined ? (
        <TextField {...props} label="Model" />
      ) : (
        <ModelField {...props} choices={choices} />
      )}
      {props.value === was ? null : <p className="text-muted text-xs">Was {was}</p>}
    </div>
  );
}

function ChangedText({
  was,
  ...props
}: {
  label: string;
  value: string;
  was: string;
  error: string | undefined;
  onChange: (text: string) => void;
}) {
  const shown = useDeferredValue(props.value);
  const changes = useMemo(() => describeLineChanges(was, shown), [was, shown]);
  const reset =
    props.value === was ? null : (
      <span className="flex items-center gap-2">
        <span className="text-muted text-xs" role="status">
          {changes}
        </span>
        <Button className="h-7" look="quiet" onClick={() => props.onChange(was)}>
          As in this run
          <span className="sr-only">: {props.label}</span>
        </Button>
      </span>
    );
  return <CodeField {...props} end={reset} language="prompt" />;
}

function StepChange({
  runId,
  stepId,
  stepName,
  draft,
  error,
  onChange,
}: {
  runId: string;
  stepId: string;
  stepName: string;
  draft: ForkDraft;
  error: string | undefined;
  onChange: (part: Partial<ForkDraft>) => void;
}) {
  const { data: detail } = useQuery(useTRPC().runs.step.queryOptions({ runId, stepId }));
  const addressOf = useOrganizationAddress();
  const label = draft.change === "input" ? "Arguments, a JSON object" : "Output, as JSON";
  return (
    <>
      <OptionField
        error={draft.change === "none" ? error : undefined}
        label={`Call of ${stepName}`}
        onChange={(next) => onChange({ change: next, value: null })}
        options={STEP_CHANGES}
        value={draft.change}
      />
      {draft.change === "none" || detail === undefined ? null : (
        <StepValue
          address={addressOf(`/api/runs/${runId}/text?step=${stepId}&field=${draft.change}`)}
          error={error}
          key={draft.change}
          label={label}
          onChange={(value) => onChange({ value })}
          own={detail[draft.change]}
          value={draft.value}
        />
      )}
    </>
  );
}

const NOTHING: PayloadPreview = { text: "", bytes: 0, cut: false };

function StepValue({
  label,
  own,
  address,
  value,
  error,
  onChange,
}: {
  label: string;
  own: PayloadPreview | null;
  address: string;
  value: string | null;
  error: string | undefined;
  onChange: (value: string) => void;
}) {
  const { text, cut, loading, failed, load } = usePayload(own ?? NOTHING, address);
  const complete = useEffectEvent(load);
  useEffect(() => complete(), []);
  const note = failed ? "Could not load the value. Write another one." : undefined;
  return (
    <div className="flex flex-col gap-1.5">
      <label className="font-medium" htmlFor="fork-value">
        {label}
      </label>
      <CodeEditor
        aria-describedby="fork-value-problem"
        aria-invalid={error !== undefined}
        disabled={loading}
        id="fork-value"
        language="json"
        look="value"
        onChange={onChange}
        placeholder={loading ? "Loading" : undefined}
        value={value ?? (cut ? "" : editableJson(text))}
      />
      <p className="text-failed text-xs empty:hidden" id="fork-value-problem" role="alert">
        {error ?? note}
      </p>
    </div>
  );
}
