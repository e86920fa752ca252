"use client";

import clsx from "clsx";
import { type ComponentProps, useId, useState } from "react";
import { CodeField } from "@/app/_ui/editor/code-field";
import { INPUT_CLASS, Labeled, TextField } from "@/app/_ui/forms/form";
import { Segments } from "@/app/_ui/segments";
import { writeJson } from "@/server/base/json/json";
import { readTypedJson, typedJsonIssue } from "@/server/base/json/repeated-key";
import { explainSetting, labelOf } from "@/server/work/agent/field-changes";
import { type Field, valuesOf } from "../../_schema/field";
import { controlOf } from "../../_schema/value";
import { readNumber } from "./agent-fields";

type SettingFieldProps = {
  field: Field;
  label: string;
  error: string | undefined;
  value: unknown;
  isOptional: boolean;
  /** Undefined: not set. Unreadable input is passed on as text, which the server rejects. */
  onChange: (value: unknown) => void;
};

export function SettingField({ field, label, error, value, isOptional, onChange }: SettingFieldProps) {
  const control = controlOf(field);
  const most = field.keywords.maximum;
  const { meaning: hint, preset: inWords } = explainSetting(field.keywords);
  // The typed text stays while it means the current value, such as `0.0` before `0.05`.
  const [typed, setTyped] = useState("");
  const preset = isOptional ? labelOf(inWords) : undefined;
  const read = control === "number" ? readNumber : control === "json" ? readValue : String;
  const change = (text: string) => {
    setTyped(text);
    onChange(text.trim() === "" && isOptional ? undefined : read(text));
  };
  if (control === "choice" || control === "boolean") {
    const choices = (valuesOf(field) ?? []).map(String);
    const values =
      control === "boolean" ? SWITCH : choices.map((choice) => ({ value: choice, label: labelOf(choice) }));
    const read = (text: string) => (control === "boolean" ? text === "true" : text);
    return (
      <Choices
        error={error}
        hint={hint}
        label={label}
        onChange={(text) => onChange(text === "" ? undefined : read(text))}
        options={preset === undefined ? values : [{ value: "", label: preset }, ...values]}
        value={String(value ?? "")}
      />
    );
  }
  const isTyped = value !== undefined && writeJson(read(typed)) === writeJson(value);
  const shared = { label, error, hint, onChange: change, placeholder: preset };
  const text = isTyped ? typed : showValue(value);
  if (control === "json")
    return <CodeField {...shared} error={typedJsonIssue(text) ?? error} language="json" value={text} />;
  if (field.type === "number" && typeof most === "number")
    return <Share {...shared} most={most} value={text} />;
  return <TextField {...shared} inputMode={control === "number" ? "decimal" : "text"} value={text} />;
}

const SWITCH = [
  { value: "true", label: "Yes" },
  { value: "false", label: "No" },
];

type ControlProps = {
  label: string;
  hint: string;
  error: string | undefined;
  value: string;
  onChange: (text: string) => void;
};

function Choices({
  label,
  hint,
  error,
  ...choice
}: ControlProps & Pick<ComponentProps<typeof Segments>, "options">) {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <span aria-hidden className="font-medium">
        {label}
      </span>
      <Segments aria-describedby={id} className="flex-wrap *:flex-1" label={label} {...choice} />
      <p className={clsx("text-xs", error ? "text-failed" : "text-muted")} id={id}>
        {error ?? hint}
      </p>
    </div>
  );
}

function Share({
  most,
  placeholder,
  value,
  onChange,
  ...description
}: ControlProps & { most: number; placeholder: string | undefined }) {
  return (
    <Labeled {...description}>
      {(control) => (
        <div className="flex items-center gap-3">
          <input
            aria-hidden
            className={clsx("h-9 min-w-0 flex-1 accent-accent", value === "" && "opacity-50")}
            max={most}
            min={0}
            onChange={(event) => onChange(event.target.value)}
            step={0.05}
            tabIndex={-1}
            type="range"
            value={value === "" ? most / 2 : value}
          />
          <input
            autoComplete="off"
            className={clsx(INPUT_CLASS, "max-w-28 shrink-0 text-right tabular-nums")}
            inputMode="decimal"
            onChange={(event) => onChange(event.target.value)}
            placeholder={placeholder}
            value={value}
            {...control}
          />
        </div>
      )}
    </Labeled>
  );
}

function readValue(text: string): unknown {
  try {
    return readTypedJson(text);
  } catch {
    return text;
  }
}

function showValue(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? writeJson(value, 2) : String(value);
}
