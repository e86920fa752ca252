import clsx from "clsx";
import { useId } from "react";
import { Button, IconButton } from "@/app/_ui/button";
import { CloseIcon, PlusIcon } from "@/app/_ui/icons";
import { isJsonObject } from "@/server/base/json/json";
import { Control, type Edited, JsonField } from "./schema-control";
import { emptyOf, type FieldProperty, readField, sampleOf, withProperty } from "./schema-value";

type SchemaFormProps = {
  schema: unknown;
  value: unknown;
  onChange: (value: unknown) => void;
  depth?: number;
  /** Whether required properties must be filled: not in an optional object that is left out. */
  needed?: boolean;
};

/**
 * A form for the properties of a JSON Schema object. What it cannot show is edited as JSON. The browser shows which
 * required fields are empty, before the form around it is submitted.
 */
export function SchemaForm({ schema, value, onChange, depth = 0, needed = true }: SchemaFormProps) {
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
          value={isJsonObject(value) ? value[property.name] : undefined}
        />
      ))}
    </div>
  );
}

function Property({
  property: { label, hint, required, schema },
  value,
  onChange,
  depth,
  needed,
}: Omit<Required<SchemaFormProps>, "schema"> & { property: FieldProperty }) {
  const id = useId();
  const field = readField(schema, depth + 1);
  const note = hint ? <p className="text-muted text-xs">{hint}</p> : null;
  const head = (
    <span className="font-medium">
      {label}
      {required ? null : <span className="font-normal text-muted"> optional</span>}
    </span>
  );
  if (field.kind !== "object" && field.kind !== "list") {
    const props = { id, label, onChange, required, schema, value };
    return (
      <div className="flex flex-col gap-1">
        <label htmlFor={id}>{head}</label>
        <Control {...props} needed={required && needed} />
        {note}
      </div>
    );
  }
  /** An optional object appears with its first property, and is left out again when only its sample values are left. */
  const changeOptional = (next: unknown) => {
    const begun = sampleOf(schema, depth + 1);
    const begins = value === undefined && isJsonObject(begun) && isJsonObject(next);
    const changed = begins ? { ...begun, ...next } : next;
    onChange(JSON.stringify(changed) === JSON.stringify(begun) ? undefined : changed);
  };
  return (
    <fieldset
      className={clsx(
        "flex flex-col",
        field.kind === "object" ? "gap-2 border-line border-l pl-3" : "gap-1.5",
      )}
    >
      <legend className="contents">{head}</legend>
      {note}
      {field.kind === "object" ? (
        <SchemaForm
          depth={depth + 1}
          needed={required ? needed : value !== undefined}
          onChange={required ? onChange : changeOptional}
          schema={schema}
          value={value}
        />
      ) : (
        <ListField depth={depth + 1} items={field.items} label={label} onChange={onChange} value={value} />
      )}
    </fieldset>
  );
}

function ListField({ label, items, value, onChange, depth }: Edited & { items: unknown; depth: number }) {
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
