"use client";

import clsx from "clsx";
import { Button, IconButton } from "@/app/_ui/button";
import { PlusIcon, RemoveIcon } from "@/app/_ui/icons";
import { ModelField } from "@/app/(dashboard)/model-field";
import type { Choices } from "@/server/catalog/edit-definition";
import { MAX_FALLBACK_MODELS } from "@/server/contract/sizes";

type FallbackFieldsProps = {
  model: string;
  value: readonly string[];
  choices: Choices;
  error: string | undefined;
  onChange: (change: (before: readonly string[]) => string[]) => void;
};

/** The models that are called in turn if the agent's own does not answer. */
export function FallbackFields({ model: own, value, choices, error, onChange }: FallbackFieldsProps) {
  const left = MAX_FALLBACK_MODELS - value.length;
  return (
    <fieldset className="flex min-w-0 flex-col gap-1.5">
      <legend className="contents font-medium">If {own || "the model"} does not answer</legend>
      <ol className="divide-y divide-line rounded-md border border-input-line empty:hidden">
        {value.map((model, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a model is its position and its name, which is typed.
          <li className="flex items-start gap-1 p-1" key={index}>
            <span aria-hidden className="w-5 pt-2 text-center text-muted tabular-nums">
              {index + 1}
            </span>
            <ModelField
              choices={choices}
              error={undefined}
              label={`Fallback model ${index + 1}`}
              look="line"
              onChange={(name) =>
                onChange((before) => before.map((each, at) => (at === index ? name : each)))
              }
              value={model}
            />
            <IconButton
              label={`Remove fallback model ${index + 1}`}
              onClick={() => onChange((before) => before.filter((_, at) => at !== index))}
            >
              <RemoveIcon />
            </IconButton>
          </li>
        ))}
      </ol>
      <p className={clsx("text-xs", error ? "text-failed" : "text-muted")}>
        {error ?? "Called in turn if the model is unknown, or its provider cannot be reached or is too busy."}
      </p>
      {left > 0 ? (
        <div>
          <Button
            onClick={() => {
              const unused = choices.models.find(({ name }) => name !== own && !value.includes(name));
              onChange((before) => [...before, unused?.name ?? ""]);
            }}
          >
            <PlusIcon /> Add a fallback model
          </Button>
        </div>
      ) : null}
    </fieldset>
  );
}
