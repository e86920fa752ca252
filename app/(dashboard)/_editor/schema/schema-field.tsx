"use client";

import { type ReactNode, useId, useState } from "react";
import type { EditorProblem } from "@/app/_ui/editor/language";
import { Segments } from "@/app/_ui/segments";
import { writeJson } from "@/server/base/json/json";
import { NO_FIELDS, reasonOf, toSchema } from "../../_schema/design";
import { ANY, type Field, readSchema } from "../../_schema/field";
import { ValueField } from "../value-field";
import { FurtherKeywords } from "./field-parts";
import { FieldRows } from "./field-rows";
import { keywordsAt } from "./keywords";

const isEqual = (a: unknown, b: unknown) => writeJson(a) === writeJson(b);

/** The JSON Schema of an object as a list of fields, and as text: both edit the same schema. */
export function SchemaField({
  label,
  hint,
  error,
  problems,
  noun,
  isOptional = false,
  value,
  onChange,
}: {
  label: string;
  hint: ReactNode;
  error: string | undefined;
  problems?: readonly EditorProblem[];
  noun: string;
  /** True if a schema without fields counts as no schema. */
  isOptional?: boolean;
  value: unknown;
  /** Undefined: no schema. */
  onChange: (schema: unknown) => void;
}) {
  const id = useId();
  const [chosen, setChosen] = useState<"fields" | "text">("fields");
  const schemaOf = (root: Field) => {
    const schema = toSchema(root);
    return isOptional && isEqual(schema, toSchema(NO_FIELDS)) ? undefined : schema;
  };
  // Fields without a name are not part of the schema yet. They stay while the others mean the current schema.
  const [edited, setEdited] = useState(NO_FIELDS);
  const isEdited = isEqual(schemaOf(edited), value);
  const root = isEdited ? edited : value === undefined ? NO_FIELDS : readSchema(value);
  const reason = reasonOf(root);
  const view = reason === null ? chosen : "text";
  function change(next: Field) {
    setEdited(next);
    const schema = schemaOf(next);
    if (!isEqual(schema, value)) onChange(schema);
  }
  return (
    <fieldset
      aria-describedby={view === "fields" ? `${id}-note` : undefined}
      className="flex min-w-0 flex-col gap-2"
    >
      <legend className="sr-only">{label}</legend>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span aria-hidden className="font-medium">
          {label}
        </span>
        <Segments
          label={`Edit ${label.toLowerCase()} as`}
          onChange={setChosen}
          options={[
            { value: "fields", label: "Fields", disabled: reason !== null },
            { value: "text", label: "JSON Schema" },
          ]}
          value={view}
        />
      </div>
      {view === "text" ? (
        <ValueField
          completions={{ schemaAt: keywordsAt }}
          error={error}
          field={ANY}
          hint={reason === null ? hint : `${reason} It is edited as JSON Schema.`}
          isLabelHidden
          label={label}
          onChange={onChange}
          problems={problems}
          value={value}
        />
      ) : (
        <>
          <FieldRows fields={root.fields} noun={noun} onChange={(fields) => change({ ...root, fields })} />
          <FurtherKeywords field={root} />
          <p
            className={error ? "text-failed text-xs [overflow-wrap:anywhere]" : "text-muted text-xs"}
            id={`${id}-note`}
          >
            {error ?? hint}
          </p>
        </>
      )}
    </fieldset>
  );
}
