"use client";

import clsx from "clsx";
import { type ReactNode, useId, useRef } from "react";
import { flushSync } from "react-dom";
import { Button, IconButton } from "@/app/_ui/button";
import { Choice, INPUT_CLASS } from "@/app/_ui/forms/form";
import { CloseIcon, PlusIcon } from "@/app/_ui/icons";
import { notify } from "@/app/_ui/toast";
import { findNameIssue, withKeyword, withType } from "../../_schema/design";
import { type Field, newField } from "../../_schema/field";
import { MoveButtons, moveButton } from "../move-buttons";
import { ChoiceValues, type FieldProps, FurtherKeywords, PresetInput, TypeSelect } from "./field-parts";

type FieldRowsProps = {
  noun: string;
  of?: string;
  fields: readonly Field[];
  onChange: (fields: readonly Field[]) => void;
};

export function FieldRows({ noun, of, fields, onChange }: FieldRowsProps) {
  const list = useRef<HTMLDivElement>(null);
  // Undo puts a field back into what the list has become.
  const latest = useRef({ fields, onChange });
  latest.current = { fields, onChange };
  const title = of === undefined ? `Add ${noun}` : `Add ${noun} to ${of}`;
  function add() {
    // The row must be there to take the focus.
    flushSync(() => onChange([...fields, newField()]));
    const names = list.current?.querySelectorAll<HTMLElement>(":scope > [data-field] > [data-head] > input");
    names?.item(names.length - 1).focus();
  }
  function move(index: number, to: number) {
    const moved = [...fields];
    moved.splice(to, 0, ...moved.splice(index, 1));
    flushSync(() => onChange(moved));
    const heads = list.current?.querySelectorAll<HTMLElement>(":scope > [data-field] > [data-head]");
    heads
      ?.item(to)
      .querySelector<HTMLElement>(moveButton(to < index ? "up" : "down"))
      ?.focus();
  }
  function remove(index: number) {
    const removed = fields[index];
    if (removed === undefined) return;
    onChange(fields.filter((_, at) => at !== index));
    list.current?.querySelector<HTMLElement>(":scope > [data-add]")?.focus();
    if (removed.name === "") return;
    notify(`${removed.name} is removed`, undefined, {
      label: "Undo",
      run: () => {
        const { fields: now, onChange: put } = latest.current;
        put([...now.slice(0, index), removed, ...now.slice(index)]);
      },
    });
  }
  return (
    <div className="flex min-w-0 flex-col" ref={list}>
      {fields.map((field, index) => {
        const label = field.name || `${noun} ${index + 1}`;
        return (
          <FieldRow
            issue={findNameIssue(field, fields)}
            actions={
              <>
                <MoveButtons
                  count={fields.length}
                  index={index}
                  name={label}
                  onMove={(to) => move(index, to)}
                />
                <IconButton label={`Remove ${label}`} onClick={() => remove(index)}>
                  <CloseIcon />
                </IconButton>
              </>
            }
            field={field}
            // biome-ignore lint/suspicious/noArrayIndexKey: a field has no identity but its position while it is renamed.
            key={index}
            label={label}
            onChange={(next) => onChange(fields.map((each, at) => (at === index ? next : each)))}
          />
        );
      })}
      <Button className={clsx("self-start", fields.length > 0 && "mt-3")} data-add onClick={add}>
        <PlusIcon />
        {title}
      </Button>
    </div>
  );
}

function FieldRow({
  field,
  label,
  issue,
  actions,
  onChange,
}: FieldProps & { issue: string | null; actions: ReactNode }) {
  const id = useId();
  const { description } = field.keywords;
  return (
    <fieldset className="flex min-w-0 flex-col gap-2 border-line border-b py-3" data-field>
      <legend className="sr-only">{label}</legend>
      <div className="flex flex-wrap items-center gap-2" data-head>
        <input
          aria-describedby={issue ? id : undefined}
          aria-invalid={issue !== null && field.name !== ""}
          aria-label={`Name of ${label}`}
          autoCapitalize="none"
          autoComplete="off"
          className={clsx(INPUT_CLASS, "mono w-auto! min-w-24 flex-1 aria-invalid:border-failed")}
          maxLength={200}
          onChange={(event) => onChange({ ...field, name: event.target.value })}
          placeholder="Name"
          spellCheck={false}
          value={field.name}
        />
        <TypeSelect
          label={`Type of ${label}`}
          onChange={(type) => onChange(withType(field, type))}
          value={field.type}
        />
        <div className="ml-auto flex">{actions}</div>
      </div>
      {issue === null ? null : (
        <p className={clsx("text-xs", field.name === "" ? "text-muted" : "text-failed")} id={id}>
          {issue}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <input
          aria-label={`Description of ${label}`}
          autoComplete="off"
          className={clsx(INPUT_CLASS, "w-auto! min-w-44 flex-3")}
          onChange={(event) => onChange(withKeyword(field, "description", event.target.value || undefined))}
          placeholder="Description"
          value={typeof description === "string" ? description : ""}
        />
        <div className="flex min-w-52 flex-2 justify-end gap-2">
          <PresetInput field={field} label={`Default of ${label}`} onChange={onChange} />
          <Choice checked={field.required} onChange={(required) => onChange({ ...field, required })}>
            Required
          </Choice>
        </div>
      </div>
      <FieldContent field={field} label={label} onChange={onChange} />
      <FurtherKeywords field={field} />
    </fieldset>
  );
}

function FieldContent({ field, label, onChange }: FieldProps) {
  if (field.type === "choice") return <ChoiceValues field={field} label={label} onChange={onChange} />;
  if (field.type === "object") {
    return (
      <div className="border-line border-l pl-3">
        <FieldRows
          fields={field.fields}
          noun="field"
          of={label}
          onChange={(fields) => onChange({ ...field, fields })}
        />
      </div>
    );
  }
  const { items } = field;
  if (items === null) return null;
  const setItems = (next: Field) => onChange({ ...field, items: next });
  const name = `each item of ${label}`;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <span className="text-muted">Each item is</span>
        <TypeSelect
          label={`Type of ${name}`}
          onChange={(type) => setItems(withType(items, type))}
          value={items.type}
        />
      </div>
      <FieldContent field={items} label={name} onChange={setItems} />
    </div>
  );
}
