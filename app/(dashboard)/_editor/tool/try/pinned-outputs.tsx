import { useContext } from "react";
import { IconButton } from "@/app/_ui/button";
import { PinIcon } from "@/app/_ui/icons";
import { JsonView } from "@/app/_ui/json/view";
import { writeJson } from "@/server/base/json/json";
import { LastOutputsContext } from "../knowledge/last-outputs";
import type { PinState } from "../knowledge/pins";
import type { StepView } from "../tool-document";

export function PinnedOutputs({
  steps,
  pinState: { pins, unpin },
}: {
  steps: readonly StepView[];
  pinState: PinState;
}) {
  const { outputs } = useContext(LastOutputsContext);
  // An id in typing can be another step's for a moment.
  const pinned = [...new Set(steps.map(({ id }) => id))].filter((id) => pins.has(id));
  if (pinned.length === 0) return null;
  return (
    <section aria-label="Pinned outputs">
      <h3 className="font-medium">Pinned outputs</h3>
      <p className="pb-1 text-muted text-xs">Test runs use them and don't call these steps.</p>
      <ul>
        {pinned.map((id) => (
          <li className="flex items-start gap-1 border-line border-t py-1" key={id}>
            <details className="min-w-0 flex-1">
              <summary className="flex min-h-7 cursor-pointer items-center hover:bg-hover">
                <span className="mono truncate">{id}</span>
              </summary>
              <div className="py-1 pl-4">
                {outputs.has(id) ? (
                  <JsonView text={writeJson(outputs.get(id))} />
                ) : (
                  <p className="text-muted">This output is not available anymore. Unpin it.</p>
                )}
              </div>
            </details>
            <PinButton id={id} isPinned onChange={() => unpin(id)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

export function PinButton({
  id,
  isPinned,
  onChange,
}: {
  id: string;
  isPinned: boolean;
  onChange: () => void;
}) {
  return (
    <IconButton
      className={isPinned ? "text-accent!" : undefined}
      label={`${isPinned ? "Unpin" : "Pin"} the output of ${id}`}
      onClick={onChange}
    >
      <PinIcon fill={isPinned ? "currentColor" : "none"} />
    </IconButton>
  );
}
