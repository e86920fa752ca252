import { useState } from "react";
import { INPUT_CLASS } from "@/app/_ui/forms/form";
import { readField, sampleOf } from "./schema-value";

const INPUT_TYPES: Record<string, string> = { email: "email", date: "date", time: "time", uri: "url" };

/** The control of one value that is neither an object nor a list. */
export function Control({
  id,
  label,
  schema,
  value,
  required,
  needed,
  onChange,
}: {
  id: string;
  label: string;
  schema: unknown;
  value: unknown;
  required: boolean;
  /** Whether it must be filled now. */
  needed: boolean;
  onChange: (value: unknown) => void;
}) {
  const field = readField(schema);
  // An emptied field is left out of the input, unless it was empty at first.
  const mayBeEmpty = sampleOf(schema) === "";
  const setText = (text: string) => onChange(text === "" && !mayBeEmpty ? undefined : text);
  switch (field.kind) {
    case "text":
      return field.long ? (
        <textarea
          className={`${INPUT_CLASS} h-24 resize-y py-1.5`}
          id={id}
          onChange={(event) => setText(event.target.value)}
          required={needed && !mayBeEmpty}
          value={textOf(value)}
        />
      ) : (
        <input
          className={INPUT_CLASS}
          id={id}
          onChange={(event) => setText(event.target.value)}
          required={needed && !mayBeEmpty}
          type={INPUT_TYPES[field.format ?? ""] ?? "text"}
          value={textOf(value)}
        />
      );
    case "number":
      return (
        <input
          className={INPUT_CLASS}
          id={id}
          max={field.max ?? undefined}
          min={field.min ?? undefined}
          onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.valueAsNumber)}
          required={needed}
          step={field.whole ? 1 : "any"}
          type="number"
          value={typeof value === "number" ? value : ""}
        />
      );
    case "boolean":
      return (
        <input
          checked={value === true}
          className="size-4 self-start accent-accent"
          id={id}
          onChange={(event) => onChange(event.target.checked)}
          type="checkbox"
        />
      );
    case "choice":
      return (
        <select
          className={INPUT_CLASS}
          id={id}
          onChange={(event) => onChange(field.values[event.target.selectedIndex - (required ? 0 : 1)])}
          value={String(value ?? "")}
        >
          {required ? null : <option value="">not set</option>}
          {field.values.map((choice) => (
            <option key={String(choice)} value={String(choice)}>
              {String(choice)}
            </option>
          ))}
        </select>
      );
    default:
      return <JsonField id={id} label={label} needed={needed} onChange={onChange} value={value} />;
  }
}

/** A value as JSON. It is passed on whenever it is valid. */
export function JsonField({
  id,
  label,
  value,
  needed = false,
  onChange,
}: {
  id?: string;
  label: string;
  value: unknown;
  needed?: boolean;
  onChange: (value: unknown) => void;
}) {
  const [text, setText] = useState(value === undefined ? "" : JSON.stringify(value, null, 2));
  const [fault, setFault] = useState<string | null>(null);
  function change(next: string) {
    setText(next);
    try {
      onChange(next.trim() === "" ? undefined : JSON.parse(next));
      setFault(null);
    } catch (error) {
      setFault(error instanceof Error ? error.message : "This is not valid JSON.");
    }
  }
  return (
    <>
      <textarea
        aria-invalid={fault !== null}
        aria-label={id === undefined ? label : undefined}
        className={`${INPUT_CLASS} mono h-20 resize-y py-1.5`}
        id={id}
        onChange={(event) => change(event.target.value)}
        placeholder="JSON"
        required={needed}
        spellCheck={false}
        value={text}
      />
      {fault ? <p className="text-failed text-xs">{fault}</p> : null}
    </>
  );
}

const textOf = (value: unknown) =>
  typeof value === "string" ? value : value === undefined ? "" : String(value);
