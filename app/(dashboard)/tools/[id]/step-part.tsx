import { formatPlural, formatSpan } from "@/app/_ui/figures/format";
import { JsonView } from "@/app/_ui/json/view";
import { Fold } from "@/app/_ui/text/fold";
import { isLong } from "@/app/_ui/text/long-text";
import { isContainer, isJsonObject, type Json, readJson, writeJson } from "@/server/base/json/json";
import type { ToolDetail } from "@/server/catalog/inspect-definition";
import { retryPolicyOf } from "@/server/work/workflow/retry-policy";
import { FlowPart } from "../../_definitions/detail/flow";

const ROOMY = { characters: 1_200, lines: 14 };

type Step = ToolDetail["steps"][number];

export function StepPart({ step, number }: { step: Step; number: number }) {
  return (
    <FlowPart
      end={<span className="mono">{step.uses ?? `${step.parallel?.length ?? 0} in parallel`}</span>}
      mark={number}
      title={<span className="mono">{step.id}</span>}
    >
      <Rules step={step} />
      {step.parallel ? (
        <ol className="flex flex-col gap-3">
          {step.parallel.map((call) => (
            <li className="border-line-strong border-l-2 pl-3" key={call.id}>
              <p className="flex flex-wrap gap-x-3">
                <span className="mono font-medium">{call.id}</span>
                <span className="mono text-muted">{call.uses}</span>
              </p>
              <Rules step={call} />
              <Inputs of={call.with} />
            </li>
          ))}
        </ol>
      ) : (
        <Inputs of={step.with} />
      )}
    </FlowPart>
  );
}

function Inputs({ of }: { of: string }) {
  const inputs = readJson(of);
  return (
    <dl className="flex flex-col gap-1">
      {Object.entries(isJsonObject(inputs) ? inputs : {}).map(([name, value]) => (
        <div className="sm:grid sm:grid-cols-[8rem_minmax(0,1fr)] sm:gap-x-4" key={name}>
          <dt className="truncate text-muted" title={name}>
            {name}
          </dt>
          <dd className="min-w-0 [overflow-wrap:anywhere]">
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value }: { value: Json }) {
  const isDocument = isContainer(value);
  const text = typeof value === "string" ? value : writeJson(value);
  return (
    <Fold bytes={text.length} height="max-h-56" long={isLong(text, ROOMY)}>
      {isDocument ? <JsonView text={text} /> : <span className="mono whitespace-pre-wrap">{text}</span>}
    </Fold>
  );
}

function Rules({ step }: { step: Step }) {
  const rules: [words: string, expression?: string][] = [];
  if (step.if !== undefined) rules.push(["Only if", step.if]);
  if (step.forEach !== undefined) rules.push([`For each ${step.as ?? "item"} of`, step.forEach]);
  if (step.concurrency !== undefined) rules.push([`At most ${step.concurrency} at once`]);
  if (step.retries !== undefined)
    rules.push([formatPlural(retryPolicyOf(step.retries).count, "retry", "retries")]);
  if (step.timeoutMs !== undefined) rules.push([`At most ${formatSpan(step.timeoutMs)}`]);
  if (step.onError === "continue") rules.push(["Continues after an error"]);
  if (rules.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-1.5">
      {rules.map(([words, expression]) => (
        <li className="rounded border border-line-strong px-1.5 text-muted" key={words}>
          {words}
          {expression === undefined ? null : (
            <code className="mono ml-1.5 text-ink [overflow-wrap:anywhere]">{expression}</code>
          )}
        </li>
      ))}
    </ul>
  );
}
