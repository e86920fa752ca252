import { Button } from "@/app/_ui/button";
import { formatPlural } from "@/app/_ui/figures/format";
import { writeJson } from "@/server/base/json/json";
import type { Inputs } from "./set-aside";

type ForeignInputsProps = {
  uses: string;
  given: Inputs;
  aside: Inputs;
  onSetAside: () => void;
  onDiscard: () => void;
};

/** The inputs of a step that its function does not take: folded, and no problem once they are set aside. */
export function ForeignInputs({ uses, given, aside, onSetAside, onDiscard }: ForeignInputsProps) {
  const names = Object.keys(given);
  const others = Object.entries(aside);
  return (
    <>
      {names.length > 0 ? (
        <div
          className="flex items-start gap-3 rounded-md border border-failed border-dashed px-3 py-2"
          role="alert"
        >
          <p className="min-w-0 flex-1 text-failed [overflow-wrap:anywhere]">
            {uses} doesn't take {names.map((name) => `“${name}”`).join(", ")}.
          </p>
          <button className="text-accent hover:underline" onClick={onSetAside} type="button">
            Set aside
          </button>
        </div>
      ) : null}
      {others.length > 0 ? (
        <div className="flex items-start gap-2 rounded-md border border-line-strong border-dashed py-1 pr-1 pl-3">
          <details className="min-w-0 flex-1">
            <summary className="cursor-pointer py-1.5 [overflow-wrap:anywhere]">
              <span className="font-medium">{formatPlural(others.length, "input")}</span>
              <span className="text-muted">
                {` set aside, because ${uses || "the function"} doesn't take ${others.length === 1 ? "it" : "them"}: `}
                {others.map(([name]) => name).join(", ")}
              </span>
            </summary>
            <dl className="flex flex-col gap-2 pb-2">
              {others.map(([name, value]) => (
                <div key={name}>
                  <dt className="text-muted text-xs">{name}</dt>
                  <dd className="mono whitespace-pre-wrap [overflow-wrap:anywhere]">
                    {typeof value === "string" ? value : writeJson(value, 2)}
                  </dd>
                </div>
              ))}
            </dl>
          </details>
          <Button look="quiet" onClick={onDiscard}>
            Discard
          </Button>
        </div>
      ) : null}
    </>
  );
}
