"use client";

import { useMutation } from "@tanstack/react-query";
import { useContext, useId, useRef, useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPCClient } from "@/app/_ui/data/providers";
import { describeError, type ShownError } from "@/app/_ui/data/query-client";
import { PlayIcon } from "@/app/_ui/icons";
import { TrySection } from "@/app/(dashboard)/_editor/editor-form";
import type { Editor } from "@/app/(dashboard)/_editor/use-editor";
import { readJson, writeJson } from "@/server/base/json/json";
import { InputProblem } from "../../../../_ui/editor/input-problem";
import { RunFrame } from "../../../_run/run-frame";
import { SchemaForm } from "../../../_run/schema-form";
import { readSchema } from "../../../_schema/field";
import { sampleOf } from "../../../_schema/value";
import { LastOutputsContext } from "../knowledge/last-outputs";
import { describeUsed, type PinState, type Used, usedAlone, usedUpTo } from "../knowledge/pins";
import { presentName, type RenameState } from "../knowledge/renames";
import type { StepView, ToolView } from "../tool-document";
import { PinnedOutputs } from "./pinned-outputs";
import { StepResults } from "./step-results";

type Start = { toolId: string; until: string | null; used: Used };

type TryPanelProps = {
  editor: Editor<string>;
  tool: ToolView;
  step: StepView | null;
  pinState: PinState;
  renameState: RenameState;
  onEnd: (runId: string) => void;
};

/**
 * Runs the draft, its steps up to the selected one, or only that one, with sample data. Pinned outputs replace calls.
 * Creates a new tool first.
 */
export function TryPanel({ editor, tool, step, pinState, renameState, onEnd }: TryPanelProps) {
  const { pins } = pinState;
  const id = useId();
  const client = useTRPCClient();
  const { opened, tried } = editor;
  const parameters = readSchema(tool.fields.parameters ?? NO_PARAMETERS);
  // Until something is typed, the sample follows the parameters' defaults.
  const [typed, setTyped] = useState<unknown>(tried && (() => readJson(tried.input)));
  const sample = typed ?? sampleOf(parameters) ?? {};
  const input = writeJson(sample);
  const last = useContext(LastOutputsContext);
  const tryDraft = ({ toolId, until, used }: Start) =>
    client.runs.tryTool.mutate({ toolId, yaml: editor.draft.latest().value, input, until, pinned: used });
  const runCreated = (toolId: string, until: string | null) =>
    until === null
      ? client.runs.start.mutate({ kind: "tool", id: toolId, input })
      : tryDraft({ toolId, until, used: {} });
  const start = useMutation({
    mutationFn: async (what: Start) => {
      const mark = renameState.mark();
      const { runId } = await tryDraft(what);
      mark(runId);
      const noteOf = (nameOf: (id: string) => string) => describeUsed(what.used, pins, nameOf);
      return { runId, noteOf };
    },
  });
  const fields = useRef<HTMLFieldSetElement>(null);
  function run(until: string | null, used = usedUpTo(tool.steps, pins, until)) {
    const invalid = fields.current?.querySelector<HTMLInputElement>(":is(input, textarea, select):invalid");
    if (invalid) invalid.reportValidity();
    else if (opened === null) editor.submit({ input, start: (toolId) => runCreated(toolId, until) });
    else if (!start.isPending) start.mutate({ toolId: opened.id, until, used });
  }
  const isBusy = start.isPending || editor.busy;
  const canRunAlone =
    opened !== null && (last.runId !== null || pins.size > 0) && step !== null && tool.steps[0] !== step;
  const alone = canRunAlone && step.id !== "" ? usedAlone(tool.steps, pins, { only: step.id, last }) : null;
  const runId = start.data?.runId ?? tried?.runId;
  const nameOf = (id: string) => (runId ? presentName(renameState.renames, runId, id) : id);
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
        {alone !== null ? (
          <Button disabled={isBusy} onClick={() => run(step?.id ?? null, alone)}>
            Run only {step?.id}
          </Button>
        ) : null}
      </div>
      {alone !== null ? (
        <p className="-mt-2 text-muted text-xs [overflow-wrap:anywhere]">
          {`Run only ${step?.id} doesn't call earlier steps. ${describeUsed(alone, pins) ?? "No output of them is known."}`}
        </p>
      ) : null}
      <PinnedOutputs pinState={pinState} steps={tool.steps} />
      <InputProblem id={id} problem={start.isError ? shorten(describeError(start.error)) : null} />
      <div>
        {runId ? (
          <RunFrame runId={runId}>
            <StepResults
              nameOf={nameOf}
              note={start.data?.noteOf(nameOf) ?? null}
              onEnd={onEnd}
              pinState={pinState}
              runId={runId}
              steps={tool.steps}
            />
          </RunFrame>
        ) : null}
      </div>
    </TrySection>
  );
}

const NO_PARAMETERS = { type: "object", properties: {} };

function shorten(error: ShownError): ShownError {
  const isDefinition = error.issues.some(({ path }) => path.startsWith("/definition"));
  return isDefinition
    ? { ...error, message: "Correct the problems of the definition first.", issues: [] }
    : error;
}
