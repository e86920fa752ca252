"use client";

import { useId, useState } from "react";
import { Button, IconButton } from "@/app/_ui/button";
import { INPUT_CLASS } from "@/app/_ui/forms/field";
import { CloseIcon, PlusIcon } from "@/app/_ui/icons";
import { emptyOf, type FieldProperty, readField, sampleOf, withProperty } from "./schema-value";

type Props = {
  schema: unknown;
  value: unknown;
  onChange: (value: unknown) => void;
  depth?: number;
  /** Whether required properties must be filled: not in an optional object that is left out. */
  needed?: boolean;
};

/**
 * A form for the properties of a JSON Schema object. What it cannot show is edited as JSON. The browser says which
 * required fields are empty, before the form around it is submitted.
 */
export function SchemaForm({ schema, value, onChange, depth = 0, needed = true }: Props) {
  const field = readField(schema, depth);
  if (field.kind !== "object") return <JsonField label="Value" onChange={onChange} value={value} />;
  if (field.properties.length === 0) return <p className="text-muted">This input has no properties.</p>;
  return (
    <div className="flex flex-col gap-3">
      {field.properties.map((property) => (
        <Property
          depth={depth}
          key={property.name}
          needed={needed}
          onChange={(next) => onChange(withProperty(value, property.name, next))}
          property={property}
          value={memberOf(value, property.name)}
        />
      ))}
    </div>
  );
}

function Property({
  property,
  value,
  onChange,
  depth,
  needed,
}: {
  property: FieldProperty;
  value: unknown;
  onChange: (value: unknown) => void;
  depth: number;
  needed: boolean;
}) {
  const id = useId();
  const { label, hint, required, schema } = property;
  const field = readField(schema, depth + 1);
  const head = (
    <span className="font-medium">
      {label}
      {required ? null : <span className="font-normal text-muted"> optional</span>}
    </span>
  );
  if (field.kind === "object") {
    const begun = sampleOf(schema, depth + 1);
    /** An optional object begins with its first property, and is left out again with its last one. */
    const changeOptional = (next: unknown) => {
      const begins = value === undefined && isObject(begun) && isObject(next);
      const whole = begins ? { ...begun, ...next } : next;
      onChange(JSON.stringify(whole) === JSON.stringify(begun) ? undefined : whole);
    };
    return (
      <fieldset className="flex flex-col gap-2 border-line border-l pl-3">
        <legend className="contents">{head}</legend>
        {hint ? <p className="text-muted text-xs">{hint}</p> : null}
        <SchemaForm
          depth={depth + 1}
          needed={required ? needed : value !== undefined}
          onChange={required ? onChange : changeOptional}
          schema={schema}
          value={value}
        />
      </fieldset>
    );
  }
  if (field.kind === "list") {
    return (
      <fieldset className="flex flex-col gap-1.5">
        <legend className="contents">{head}</legend>
        {hint ? <p className="text-muted text-xs">{hint}</p> : null}
        <ListField depth={depth + 1} items={field.items} label={label} onChange={onChange} value={value} />
      </fieldset>
    );
  }
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id}>{head}</label>
      <Control
        id={id}
        label={label}
        needed={required && needed}
        onChange={onChange}
        required={required}
        schema={schema}
        value={value}
      />
      {hint ? <p className="text-muted text-xs">{hint}</p> : null}
    </div>
  );
}

const INPUT_TYPES: Record<string, string> = { email: "email", date: "date", time: "time", uri: "url" };

/** The control of one value that is neither an object nor a list. */
function Control({
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

function ListField({
  label,
  items,
  value,
  onChange,
  depth,
}: {
  label: string;
  items: unknown;
  value: unknown;
  onChange: (value: unknown) => void;
  depth: number;
}) {
  const id = useId();
  const entries: unknown[] = Array.isArray(value) ? value : [];
  const hasProperties = readField(items, depth).kind === "object";
  const replace = (index: number, next: unknown) =>
    onChange(entries.map((entry, at) => (at === index ? next : entry)));
  return (
    <div className="flex flex-col gap-1.5">
      {entries.map((entry, index) => {
        const name = `${label} ${index + 1}`;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries have no identity but their position.
          <div className="flex items-start gap-1.5" key={index}>
            <div className="min-w-0 flex-1">
              {hasProperties ? (
                <fieldset className="border-line border-l pl-3">
                  <legend className="text-muted">{name}</legend>
                  <SchemaForm
                    depth={depth}
                    onChange={(next) => replace(index, next)}
                    schema={items}
                    value={entry}
                  />
                </fieldset>
              ) : (
                <>
                  <label className="sr-only" htmlFor={`${id}-${index}`}>
                    {name}
                  </label>
                  <Control
                    id={`${id}-${index}`}
                    label={name}
                    needed
                    onChange={(next) => replace(index, next ?? emptyOf(items) ?? null)}
                    required
                    schema={items}
                    value={entry}
                  />
                </>
              )}
            </div>
            <IconButton
              label={`Remove ${name}`}
              onClick={() => onChange(entries.filter((_, at) => at !== index))}
            >
              <CloseIcon />
            </IconButton>
          </div>
        );
      })}
      <Button className="self-start" onClick={() => onChange([...entries, emptyOf(items) ?? null])}>
        <PlusIcon />
        Add to {label}
      </Button>
    </div>
  );
}

/** A value as JSON. It is passed on whenever it is valid. */
function JsonField({
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
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) ? Reflect.get(value, name) : undefined;
