"use client";

import clsx from "clsx";
import { INPUT_CLASS } from "@/app/_ui/forms/form";
import { choicesOf, describeRest, presetOf, withKeyword } from "../../_schema/design";
import { FIELD_TYPES, type Field, type FieldType, isFieldType } from "../../_schema/field";
import { numberIn, numberText } from "../../_schema/value";

type TypeSelectProps = { label: string; value: FieldType; onChange: (type: FieldType) => void };

export function TypeSelect({ label, value, onChange }: TypeSelectProps) {
  return (
    <select
      aria-label={label}
      className={clsx(INPUT_CLASS, "w-35!")}
      onChange={({ target }) => isFieldType(target.value) && onChange(target.value)}
      value={value}
    >
      {Object.entries(FIELD_TYPES).map(([type, { title }]) => (
        <option key={type} value={type}>
          {title}
        </option>
      ))}
    </select>
  );
}

const PRESET_CLASS = clsx(INPUT_CLASS, "w-auto! min-w-28 flex-1");

export type FieldProps = { field: Field; label: string; onChange: (field: Field) => void };

/** The default of a field; nothing for types whose default is edited as text. */
export function PresetInput({ field, label, onChange }: FieldProps) {
  const { type } = field;
  const preset = presetOf(field);
  const set = (next: unknown) => onChange(withKeyword(field, "default", next));
  if (type === "text" || type === "number" || type === "integer") {
    return (
      <input
        aria-label={label}
        autoComplete="off"
        className={PRESET_CLASS}
        onChange={({ target }) => set(type === "text" ? target.value || undefined : numberIn(target))}
        placeholder="Default"
        step={type === "integer" ? 1 : "any"}
        type={type === "text" ? "text" : "number"}
        value={typeof preset === "string" ? preset : numberText(preset)}
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
      onChange={({ target }) => set(choices[target.selectedIndex - 1])}
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
export function ChoiceValues({ field, label, onChange }: FieldProps) {
  function setChoices(choices: readonly string[]) {
    const next = { ...field, choices };
    const isDropped = presetOf(field) !== undefined && presetOf(next) === undefined;
    onChange(isDropped ? withKeyword(next, "default", undefined) : next);
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

export function FurtherKeywords({ field }: { field: Field }) {
  const rest = describeRest(field);
  return rest === "" ? null : <p className="text-muted text-xs [overflow-wrap:anywhere]">Also: {rest}</p>;
}
