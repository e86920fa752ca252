"use client";

import clsx from "clsx";
import { INPUT_CLASS } from "@/app/_ui/forms/form";
import { choicesOf, FIELD_TYPES, type FieldType, type SchemaField } from "./fields";

const isType = (value: string): value is FieldType => Object.hasOwn(FIELD_TYPES, value);

export function TypeSelect({
  label,
  value,
  onChange,
}: {
  label: string;
  value: FieldType;
  onChange: (type: FieldType) => void;
}) {
  return (
    <select
      aria-label={label}
      className={clsx(INPUT_CLASS, "w-35!")}
      onChange={({ target }) => isType(target.value) && onChange(target.value)}
      value={value}
    >
      {Object.entries(FIELD_TYPES).map(([type, name]) => (
        <option key={type} value={type}>
          {name}
        </option>
      ))}
    </select>
  );
}

const PRESET_CLASS = clsx(INPUT_CLASS, "w-auto! min-w-28 flex-1");

/** The default of a field; nothing for types whose default is edited as text. */
export function PresetInput({
  field,
  label,
  onChange,
}: {
  field: SchemaField;
  label: string;
  /** Undefined: none. */
  onChange: (preset: unknown) => void;
}) {
  const { type, preset } = field;
  if (type === "text") {
    return (
      <input
        aria-label={label}
        autoComplete="off"
        className={PRESET_CLASS}
        onChange={({ target }) => onChange(target.value === "" ? undefined : target.value)}
        placeholder="Default"
        value={typeof preset === "string" ? preset : ""}
      />
    );
  }
  if (type === "number" || type === "integer") {
    return (
      <input
        aria-label={label}
        className={PRESET_CLASS}
        onChange={({ target }) =>
          onChange(Number.isNaN(target.valueAsNumber) ? undefined : target.valueAsNumber)
        }
        placeholder="Default"
        step={type === "integer" ? 1 : "any"}
        type="number"
        value={typeof preset === "number" ? preset : ""}
      />
    );
  }
  if (type !== "boolean" && type !== "choice") return null;
  const choices = type === "boolean" ? [true, false] : choicesOf(field);
  const textOf = (choice: unknown) => (choice === true ? "Yes" : choice === false ? "No" : String(choice));
  return (
    <select
      aria-label={label}
      className={PRESET_CLASS}
      onChange={({ target }) => onChange(choices[target.selectedIndex - 1])}
      value={preset === undefined ? "" : textOf(preset)}
    >
      <option value="">No default</option>
      {choices.map((choice) => (
        <option key={textOf(choice)} value={textOf(choice)}>
          {textOf(choice)}
        </option>
      ))}
    </select>
  );
}

/** The values of a choice. A default that is no longer among them is dropped. */
export function ChoiceValues({
  field,
  label,
  onChange,
}: {
  field: SchemaField;
  label: string;
  onChange: (field: SchemaField) => void;
}) {
  function setChoices(choices: readonly string[]) {
    const isKept = choicesOf({ ...field, choices }).includes(String(field.preset));
    onChange({ ...field, choices, preset: isKept ? field.preset : undefined });
  }
  return (
    <textarea
      aria-label={`Values of ${label}`}
      className="field-sizing-content max-h-60 min-h-16 w-full resize-y rounded-md border border-input-line bg-canvas px-2.5 py-2 placeholder:text-faint"
      onChange={({ target }) => setChoices(target.value.split("\n"))}
      placeholder="Values, one a line"
      spellCheck={false}
      value={field.choices.join("\n")}
    />
  );
}
