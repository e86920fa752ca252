"use client";

import { Button, IconButton } from "@/app/_ui/button";
import { RemoveIcon } from "@/app/_ui/icons";
import type { Choices } from "@/server/catalog/edit-definition";
import { MAX_FALLBACK_MODELS } from "@/server/contract/sizes";
import { ModelField } from "./model-field";

type FallbackFieldsProps = {
  /** The agent's own. */
  model: string;
  value: readonly string[];
  choices: Choices;
  error: string | undefined;
  onChange: (change: (before: readonly string[]) => string[]) => void;
};

/** The models that are called in turn if the agent's own does not answer. */
export function FallbackFields({ model: own, value, choices, error, onChange }: FallbackFieldsProps) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="contents font-medium">Fallback models</legend>
      <p className="text-muted text-xs">
        Called in turn if the model is unknown, or its provider does not answer.
      </p>
      <div className="grid gap-4 empty:hidden sm:grid-cols-2">
        {value.map((model, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a model is its position and its name, which is typed.
          <div className="flex items-start gap-2" key={index}>
            <div className="min-w-0 flex-1">
              <ModelField
                choices={choices}
                error={undefined}
                label={`Fallback model ${index + 1}`}
                onChange={(name) =>
                  onChange((before) => before.map((each, at) => (at === index ? name : each)))
                }
                value={model}
              />
            </div>
            <IconButton
              className="mt-6"
              label={`Remove fallback model ${index + 1}`}
              onClick={() => onChange((before) => before.filter((_, at) => at !== index))}
            >
              <RemoveIcon />
            </IconButton>
          </div>
        ))}
      </div>
      <p className="text-failed text-xs empty:hidden">{error}</p>
      {value.length < MAX_FALLBACK_MODELS ? (
        <div>
          <Button
            onClick={() => {
              const unused = choices.models.find(({ name }) => name !== own && !value.includes(name));
              onChange((before) => [...before, unused?.name ?? ""]);
            }}
          >
            Add a fallback model
          </Button>
        </div>
      ) : null}
    </fieldset>
  );
}
