import type { ReactNode } from "react";
import { SelectField } from "@/app/_ui/forms/form";
import { type Field, valuesOf } from "../_schema/field";

type ChoiceFieldProps = {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  field: Field;
  value: unknown;
  /** Undefined: not set. */
  onChange: (value: unknown) => void;
  onWrite: () => void;
};

const EXPRESSION = "expression";

/** One of a schema's values, or the wish to write an expression instead. */
export function ChoiceField({ label, hint, error, field, value, onChange, onWrite }: ChoiceFieldProps) {
  const choices: readonly unknown[] = valuesOf(field) ?? [];
  return (
    <SelectField
      error={error}
      hint={hint}
      label={label}
      onChange={(chosen) => {
        if (chosen === EXPRESSION) onWrite();
        else onChange(choices[Number(chosen)]);
      }}
      value={choices.indexOf(value).toString()}
    >
      <option value="-1">{field.required ? "Choose a value" : "Not set"}</option>
      {choices.map((choice, index) => (
        <option key={String(choice)} value={index}>
          {String(choice)}
        </option>
      ))}
      <option value={EXPRESSION}>Write an expression</option>
    </SelectField>
  );
}
