"use client";

import { useState } from "react";
import { CodeField } from "@/app/_ui/editor/code-field";
import { SelectField, TextField } from "@/app/_ui/forms/form";
import { readJson, writeJson } from "@/server/base/json/json";
import type { AgentField } from "@/server/catalog/agent-fields";
import { labelOf } from "@/server/work/agent/field-changes";
import { readNumber } from "./agent-fields";

type SettingFieldProps = {
  field: AgentField;
  label: string;
  error: string | undefined;
  value: unknown;
  /** It can be unset. */
  isOptional: boolean;
  /** Undefined: not set. What cannot be read is passed on as text, and the server says what is wrong. */
  onChange: (value: unknown) => void;
};

/** The control of one of an agent's settings, by its schema. */
export function SettingField({ field, label, error, value, isOptional, onChange }: SettingFieldProps) {
  const { control, description: hint, options } = field;
  // What was typed stays as it was typed while it means the current value, such as `0.0` before `0.05`.
  const [typed, setTyped] = useState("");
  const preset = isOptional ? labelOf(field.default ?? "") : undefined;
  const read = control === "number" ? readNumber : control === "json" ? readValue : String;
  const change = (text: string) => {
    setTyped(text);
    onChange(text.trim() === "" && isOptional ? undefined : read(text));
  };
  if (control === "choice" || control === "switch") {
    const choose = (text: string) => onChange(text === "" ? undefined : text);
    const turn = (text: string) => onChange(text === "" ? undefined : text === "true");
    return (
      <SelectField
        error={error}
        hint={hint}
        label={label}
        onChange={control === "switch" ? turn : choose}
        value={String(value ?? "")}
      >
        {preset === undefined ? null : <option value="">{preset}</option>}
        {control === "switch" ? (
          <>
            <option value="true">Yes</option>
            <option value="false">No</option>
          </>
        ) : (
          options.map((option) => (
            <option key={option} value={option}>
              {labelOf(option)}
            </option>
          ))
        )}
      </SelectField>
    );
  }
  const isTyped = value !== undefined && writeJson(read(typed)) === writeJson(value);
  const shared = { label, error, hint, onChange: change, placeholder: preset };
  const text = isTyped ? typed : showValue(value);
  if (control === "json") return <CodeField {...shared} language="json" value={text} />;
  return <TextField {...shared} inputMode={control === "number" ? "decimal" : "text"} value={text} />;
}

function readValue(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}

function showValue(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? writeJson(value, 2) : String(value);
}
