"use client";

import { useMutation } from "@tanstack/react-query";
import { Suspense, useId, useRef, useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPCClient } from "@/app/_ui/data/providers";
import { describeError, type ShownError } from "@/app/_ui/data/query-client";
import { PlayIcon } from "@/app/_ui/icons";
import { InputProblem } from "@/app/(dashboard)/_run/problem";
import { SchemaForm } from "@/app/(dashboard)/_run/schema-form";
import { sampleOf } from "@/app/(dashboard)/_run/schema-value";
import { StepResults } from "./step-results";
import type { StepView, ToolView } from "./tool-document";

/** Runs the draft, or its steps up to the selected one, with sample data, and shows each step's result. */
export function TryPanel({
  toolId,
  tool,
  step,
  textOf,
}: {
  toolId: string;
  tool: ToolView;
  /** The selected step. */
  step: StepView | null;
  /** The newest text of the draft. */
  textOf: () => string;
}) {
  const id = useId();
  const client = useTRPCClient();
  const { parameters } = tool.fields;
  const [sample, setSample] = useState<unknown>(() => sampleOf(parameters) ?? {});
  const start = useMutation({
    mutationFn: (until: string | null) =>
      client.runs.tryTool.mutate({ toolId, yaml: textOf(), input: JSON.stringify(sample), until }),
  });
  const fields = useRef<HTMLFieldSetElement>(null);
  const run = (until: string | null) => {
    const faulty = fields.current?.querySelector<HTMLInputElement>(":is(input, textarea, select):invalid");
    if (faulty) faulty.reportValidity();
    else if (!start.isPending) start.mutate(until);
  };
  return (
    <section aria-label="Try the draft" className="flex min-w-0 flex-col gap-4">
      <div>
        <h2 className="font-semibold">Try the draft</h2>
        <p className="text-muted">
          It need not be saved. A try costs what a run costs, and calls what a run calls.
        </p>
      </div>
      <fieldset className="contents" ref={fields}>
        <SchemaForm onChange={setSample} schema={parameters ?? NO_PARAMETERS} value={sample} />
      </fieldset>
      <div className="flex flex-wrap gap-2">
        <Button disabled={start.isPending} onClick={() => run(null)}>
          <PlayIcon />
          {start.isPending ? "Starting" : "Run all steps"}
        </Button>
        {step === null || step.id === "" ? null : (
          <Button disabled={start.isPending} onClick={() => run(step.id)}>
            Run up to {step.id}
          </Button>
        )}
      </div>
      <InputProblem id={id} problem={start.isError ? shorten(describeError(start.error)) : null} />
      <div aria-live="polite">
        {start.data ? (
          <Suspense fallback={<p className="text-muted">Starting the run</p>} key={start.data.runId}>
            <StepResults runId={start.data.runId} />
          </Suspense>
        ) : null}
      </div>
    </section>
  );
}

const NO_PARAMETERS = { type: "object", properties: {} };

/** Problems of the definition are listed beside it already. */
function shorten(error: ShownError): ShownError {
  const isDefinition = error.issues.some(({ path }) => path.startsWith("/line"));
  return isDefinition
    ? { ...error, message: "Correct the problems of the definition first.", issues: [] }
    : error;
}
