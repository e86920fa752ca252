"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatPlural } from "@/app/_ui/figures/format";
import { CheckIcon, TextIcon } from "@/app/_ui/icons";
import { JsonView } from "@/app/_ui/json/view";
import { DefinitionView } from "../../_definitions/detail/definition-view";
import { FlowPart, LimitsPart } from "../../_definitions/detail/flow";
import { SchemaTable } from "../../_definitions/detail/schema-table";
import { StepPart } from "./step-part";

export function ToolView({ toolId }: { toolId: string }) {
  const trpc = useTRPC();
  const { data: tool } = useSuspenseQuery(trpc.definitions.tool.queryOptions({ toolId }));
  return (
    <DefinitionView of={{ kind: "tool", ...tool }}>
      <FlowPart
        end={formatPlural(tool.steps.length, "step")}
        mark={<TextIcon />}
        title="Starts with an input"
      >
        {tool.description === "" ? null : (
          <p className="max-w-176 text-base [overflow-wrap:anywhere]">{tool.description}</p>
        )}
        <SchemaTable label="Parameters" schema={tool.parameters} />
      </FlowPart>
      {tool.steps.map((step, index) => (
        <StepPart key={step.id} number={index + 1} step={step} />
      ))}
      <FlowPart
        mark={<CheckIcon />}
        title={tool.output === null ? "Returns the last step's output" : "Returns this output"}
      >
        {tool.output === null ? null : <JsonView text={tool.output} />}
        {tool.outputSchema === null ? (
          <p className="text-muted">Its schema is inferred from the output.</p>
        ) : (
          <SchemaTable label="Output schema" schema={tool.outputSchema} />
        )}
      </FlowPart>
      <LimitsPart of={tool} />
    </DefinitionView>
  );
}
