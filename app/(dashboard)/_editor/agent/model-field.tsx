"use client";

import { useState } from "react";
import { formatCredits } from "@/app/_ui/figures/format";
import { SelectField, TextField } from "@/app/_ui/forms/form";
import { Link } from "@/app/_ui/link";
import type { Choices, ModelChoice } from "@/server/catalog/edit-definition";

const OTHER = "";

type ModelFieldProps = {
  label?: string;
  value: string;
  choices: Choices;
  error: string | undefined;
  onChange: (model: string) => void;
};

/**
 * A model of a configured provider, or the name of any other: the default provider serves it. Then it leads to the page of
 * the providers; the draft waits.
 */
export function ModelField({
  label = "Model",
  value,
  choices: { models, otherModel },
  error,
  onChange,
}: ModelFieldProps) {
  const known = models.find(({ name }) => name === value);
  const [typing, setTyping] = useState(false);
  const isOther = typing || known === undefined;
  const providers = [...new Set(models.map(({ provider }) => provider))];
  const hint = describeModel(known ?? otherModel);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <SelectField
        error={isOther ? undefined : error}
        hint={isOther ? undefined : hint}
        label={label}
        onChange={(model) => {
          setTyping(model === OTHER);
          onChange(model);
        }}
        value={isOther ? OTHER : value}
      >
        {providers.map((provider) => (
          <optgroup key={provider} label={provider}>
            {models
              .filter((model) => model.provider === provider)
              .map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
          </optgroup>
        ))}
        <option value={OTHER}>Another model</option>
      </SelectField>
      {isOther ? (
        <TextField
          error={error}
          hint={
            <>
              {hint}{" "}
              <Link className="text-accent underline" href="/models">
                See model providers
              </Link>
            </>
          }
          label={`${label} name`}
          onChange={onChange}
          value={value}
        />
      ) : null}
    </div>
  );
}

function describeModel({ provider, input, output }: Omit<ModelChoice, "name">): string {
  if (provider === "demo") return "The built-in simulation, which is free.";
  return `Served by ${provider}. Credits per 1,000 tokens: ${formatCredits(input)} in, ${formatCredits(output)} out.`;
}
