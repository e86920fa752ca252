"use client";

import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { SelectField, TextField } from "@/app/_ui/forms/form";
import { Link } from "@/app/_ui/link";
import type { Choices, ModelChoice } from "@/server/catalog/edit-definition";
import { formatListPrice, formatModel } from "./format-model";

const OTHER = "";

type ModelFieldProps = {
  label?: string;
  value: string;
  choices: Choices;
  error: string | undefined;
  look?: "field" | "line";
  onChange: (model: string) => void;
};

/**
 * A model of a configured provider, one that the default provider offers, or any other name, which the default
 * provider serves.
 */
export function ModelField({
  label = "Model",
  value,
  choices: { models, otherModel },
  error,
  look = "field",
  onChange,
}: ModelFieldProps) {
  const { offered, provider, problem } = useOffered(models);
  const known = [...models, ...offered].find(({ name }) => name === value);
  const [typing, setTyping] = useState(false);
  const isOther = typing || known === undefined;
  const providers = [...new Set(models.map((model) => model.provider))];
  const isLine = look === "line";
  const hint = isLine ? undefined : describeChoice(known ?? otherModel);
  return (
    <div className={clsx("flex min-w-0 flex-col", isLine ? "flex-1 gap-1" : "gap-2")}>
      <SelectField
        error={isOther ? undefined : error}
        hint={isOther ? undefined : hint}
        isLabelHidden={isLine}
        label={label}
        onChange={(model) => {
          setTyping(model === OTHER);
          onChange(model);
        }}
        value={isOther ? OTHER : value}
      >
        {providers.map((name) => (
          <ModelOptions key={name} label={name} models={models.filter((model) => model.provider === name)} />
        ))}
        {offered.length > 0 ? <ModelOptions label={`Also offered by ${provider}`} models={offered} /> : null}
        <option value={OTHER}>Another model</option>
      </SelectField>
      {isOther ? (
        <TextField
          error={error}
          hint={
            isLine ? undefined : (
              <>
                {hint}{" "}
                <Link className="text-accent underline" href="/models">
                  See model providers
                </Link>
              </>
            )
          }
          isLabelHidden={isLine}
          label={`${label} name`}
          onChange={onChange}
          value={value}
        />
      ) : null}
      {problem === null || !isOther ? null : (
        <p className="text-muted text-xs [overflow-wrap:anywhere]">
          Could not load the models of {provider}. {problem}
        </p>
      )}
    </div>
  );
}

function useOffered(configured: readonly ModelChoice[]) {
  const { data } = useQuery(useTRPC().models.offered.queryOptions());
  if (data === undefined) return { offered: [], provider: "", problem: null };
  const taken = new Set(configured.map(({ name }) => name));
  const { provider, problem } = data;
  const offered = data.models.flatMap((model) => (taken.has(model.name) ? [] : { ...model, provider }));
  return { offered, provider, problem };
}

function ModelOptions({ label, models }: { label: string; models: readonly ModelChoice[] }) {
  return (
    <optgroup label={label}>
      {models.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </optgroup>
  );
}

function describeChoice(model: ModelChoice): string {
  if (model.provider === "demo") return "The built-in simulation, which is free.";
  const listPrice = formatListPrice(model);
  return `Served by ${model.provider}. ${formatModel(model)}${listPrice === null ? "" : ` ${listPrice}`}`;
}
