import clsx from "clsx";
import { useId, useState } from "react";
import { Button, IconButton } from "@/app/_ui/button";
import { CloseIcon, PlusIcon } from "@/app/_ui/icons";
import { isJsonObject, writeJson } from "@/server/base/json/json";
import type { Field } from "../_schema/field";
import { controlOf, emptyOf, hintOf, sampleOf, titleOf, withProperty } from "../_schema/value";
import { Control, type Edited, JsonField } from "./schema-control";

type SchemaFormProps = {
  field: Field;
  value: unknown;
  onChange: (value: unknown) => void;
  needed?: boolean;
};

/**
 * A form for a JSON Schema object. What it cannot show is edited as JSON. The browser reports empty required
 * fields.
 */
export function SchemaForm({ field, value, onChange, needed = true }: SchemaFormProps) {
  if (controlOf(field) !== "object") return <JsonField label="Value" onChange={onChange} value={value} />;
  if (field.fields.length === 0) return <p className="text-muted">This input has no properties.</p>;
  return (
    <div className="flex flex-col gap-3">
      {field.fields.map((each) => (
        <Property
          field={each}
          key={each.name}
          needed={needed}
          onChange={(next) => onChange(withProperty(value, each.name, next))}
          value={isJsonObject(value) ? value[each.name] : undefined}
        />
      ))}
    </div>
  );
}

function Property({ field, value, onChange, needed }: Required<SchemaFormProps>) {
  const id = useId();
  const [label, hint, control] = [titleOf(field), hintOf(field), controlOf(field)];
  const { required, items } = field;
  const note = hint ? <p className="text-muted text-xs">{hint}</p> : null;
  const head = (
    <span className="font-medium">
      {label}
      {required ? null : <span className="font-normal text-muted"> optional</span>}
    </span>
  );
  if (control !== "object" && (control !== "list" || items === null)) {
    const props = { id, field, label, onChange, value };
    return (
      <div className="flex flex-col gap-1">
        <label htmlFor={id}>{head}</label>
        <Control {...props} needed={required && needed} />
        {note}
      </div>
    );
  }
  const changeOptional = (next: unknown) => {
    const started = sampleOf(field);
    const begins = value === undefined && isJsonObject(started) && isJsonObject(next);
    const changed = begins ? { ...started, ...next } : next;
    onChange(writeJson(changed) === writeJson(started) ? undefined : changed);
  };
  return (
    <fieldset
      className={clsx("flex flex-col", control === "object" ? "gap-2 border-line border-l pl-3" : "gap-1.5")}
    >
      <legend className="contents">{head}</legend>
      {note}
      {control === "object" || items === null ? (
        <SchemaForm
          field={field}
          needed={required ? needed : value !== undefined}
          onChange={required ? onChange : changeOptional}
          value={value}
        />
      ) : (
        <ListField items={items} label={label} onChange={onChange} value={value} />
      )}
    </fieldset>
  );
}

function ListField({ label, items, value, onChange }: Edited & { items: Field }) {
  const id = useId();
  const entries: unknown[] = Array.isArray(value) ? value : [];
  const hasProperties = controlOf(items) === "object";
  // Rows keep their keys: a removed one takes its typed text along. Added rows get the next ones.
  const [keys, setKeys] = useState<readonly number[]>([]);
  const keyAt = (index: number) => keys[index] ?? 1 + Math.max(-1, ...keys) + index - keys.length;
  const replace = (index: number, next: unknown) =>
    onChange(entries.map((entry, at) => (at === index ? next : entry)));
  const remove = (index: number) => {
    const others = [...entries.keys()].filter((at) => at !== index);
    setKeys(others.map(keyAt));
    onChange(others.map((at) => entries[at]));
  };
  return (
    <div className="flex flex-col gap-1.5">
      {entries.map((entry, index) => {
        const name = `${label} ${index + 1}`;
        const controlId = `${id}-${keyAt(index)}`;
        return (
          <div className="flex items-start gap-1.5" key={controlId}>
            <div className="min-w-0 flex-1">
              {hasProperties ? (
                <fieldset className="border-line border-l pl-3">
                  <legend className="text-muted">{name}</legend>
                  <SchemaForm field={items} onChange={(next) => replace(index, next)} value={entry} />
                </fieldset>
              ) : (
                <>
                  <label className="sr-only" htmlFor={controlId}>
                    {name}
                  </label>
                  <Control
                    field={{ ...items, required: true }}
                    id={controlId}
                    label={name}
                    needed
                    onChange={(next) => replace(index, next ?? emptyOf(items) ?? null)}
                    value={entry}
                  />
                </>
              )}
            </div>
            <IconButton label={`Remove ${name}`} onClick={() => remove(index)}>
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
