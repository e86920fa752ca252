import { useId } from "react";
import { Button, IconButton } from "@/app/_ui/button";
import { CloseIcon, PlusIcon } from "@/app/_ui/icons";
import { Control, JsonField } from "./schema-control";
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

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) ? Reflect.get(value, name) : undefined;
