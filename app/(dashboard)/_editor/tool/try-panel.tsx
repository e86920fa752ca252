"use client";

import { useMutation } from "@tanstack/react-query";
import { Suspense, useContext, useId, useRef, useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPCClient } from "@/app/_ui/data/providers";
import { describeError, type ShownError } from "@/app/_ui/data/query-client";
import { PlayIcon } from "@/app/_ui/icons";
import { readJson, writeJson } from "@/server/base/json/json";
import { InputProblem } from "../../_run/problem";
import { SchemaForm } from "../../_run/schema-form";
import { readSchema } from "../../_schema/field";
import { sampleOf } from "../../_schema/value";
import { TrySection } from "../editor-form";
import type { Editor } from "../use-editor";
import { LastOutputsContext } from "./knowledge/last-outputs";
import { StepResults } from "./step-results";
import type { StepView, ToolView } from "./tool-document";

type Start = { toolId: string; until: string | null; pinnedFrom: string | null };

type TryPanelProps = {
  editor: Editor<string>;
  tool: ToolView;
  step: StepView | null;
  onEnd: (runId: string) => void;
};

/** Runs the draft, its steps up to the selected one, or only that one, with sample data. Creates a new tool first. */
export function TryPanel({ editor, tool, step, onEnd }: TryPanelProps) {
  const id = useId();
  const client = useTRPCClient();
  const { opened, tried } = editor;
  const parameters = readSchema(tool.fields.parameters ?? NO_PARAMETERS);
  // Until something is typed, the sample follows the parameters' defaults.
  const [typed, setTyped] = useState<unknown>(tried && (() => readJson(tried.input)));
  const sample = typed ?? sampleOf(parameters) ?? {};
  const input = writeJson(sample);
  const last = useContext(LastOutputsContext);
  const tryDraft = (toolId: string, until: string | null, pinnedFrom: string | null = null) =>
    client.runs.tryTool.mutate({ toolId, yaml: editor.draft.latest().value, input, until, pinnedFrom });
  const runCreated = (toolId: string, until: string | null) =>
    until === null ? client.runs.start.mutate({ kind: "tool", id: toolId, input }) : tryDraft(toolId, until);
  const start = useMutation({
    mutationFn: ({ toolId, until, pinnedFrom }: Start) => tryDraft(toolId, until, pinnedFrom),
  });
  const fields = useRef<HTMLFieldSetElement>(null);
  function run(until: string | null, pinnedFrom: string | null = null) {
    const faulty = fields.current?.querySelector<HTMLInputElement>(":is(input, textarea, select):invalid");
    if (faulty) faulty.reportValidity();
    else if (opened === null) editor.submit({ input, start: (toolId) => runCreated(toolId, until) });
    else if (!start.isPending) start.mutate({ toolId: opened.id, until, pinnedFrom });
  }
  const isBusy = start.isPending || editor.busy;
  const isAlone =
    opened !== null && last.runId !== null && step !== null && step.id !== "" && tool.steps[0] !== step;
  const runId = start.data?.runId ?? tried?.runId;
  return (
    <TrySection editor={editor}>
      <fieldset className="contents" ref={fields}>
        <SchemaForm field={parameters} onChange={setTyped} value={sample} />
      </fieldset>
      <div className="flex flex-wrap gap-2">
        <Button disabled={isBusy} onClick={() => run(null)}>
          <PlayIcon />
          {isBusy ? "Starting" : opened === null ? "Create and run" : "Run all steps"}
        </Button>
        {step === null || step.id === "" ? null : (
          <Button disabled={isBusy} onClick={() => run(step.id)}>
            {opened === null ? "Create and run" : "Run"} up to {step.id}
          </Button>
        )}
        {isAlone ? (
          <Button disabled={isBusy} onClick={() => run(step?.id ?? null, last.runId)}>
            Run only {step?.id}
          </Button>
        ) : null}
      </div>
      {isAlone ? (
        <p className="-mt-2 text-muted text-xs">
          {`Run only ${step?.id} doesn't call earlier steps. It uses their last outputs.`}
        </p>
      ) : null}
      <InputProblem id={id} problem={start.isError ? shorten(describeError(start.error)) : null} />
      <div aria-live="polite">
        {runId ? (
          <Suspense fallback={<p className="text-muted">Starting the run</p>} key={runId}>
            <StepResults onEnd={onEnd} runId={runId} />
          </Suspense>
        ) : null}
      </div>
    </TrySection>
  );
}

const NO_PARAMETERS = { type: "object", properties: {} };

/** Problems of the definition are listed beside it already. */
function shorten(error: ShownError): ShownError {
  const isDefinition = error.issues.some(({ path }) => path.startsWith("/definition"));
  return isDefinition
    ? { ...error, message: "Correct the problems of the definition first.", issues: [] }
    : error;
}
