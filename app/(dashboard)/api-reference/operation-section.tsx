import { type LineColumn, LineList } from "@/app/_ui/table";
import type { DocumentField, Operation } from "./read-document";
import { type KnownIds, TryIt } from "./try-it";

export function OperationSection({ operation, ids }: { operation: Operation; ids: KnownIds }) {
  const { id, method, path, summary, description, parameters, body, response, errors } = operation;
  return (
    <section
      aria-labelledby={id}
      className="grid gap-x-8 gap-y-4 border-line border-t px-4 py-6 sm:px-6 xl:grid-cols-[minmax(0,1fr)_minmax(0,30rem)]"
    >
      <div className="flex min-w-0 flex-col gap-4">
        <h2 className="scroll-mt-16 font-semibold text-base md:scroll-mt-4" id={id}>
          {summary}
        </h2>
        <p className="mono [overflow-wrap:anywhere]">
          <span className="font-medium text-accent">{method}</span> {path}
        </p>
        <p className="max-w-prose">{description}</p>
        {parameters.length > 0 ? (
          <Fields
            caption="Parameters"
            fields={parameters.map((field) => ({ ...field, type: `${field.type}, ${field.in}` }))}
          />
        ) : null}
        {body && body.fields.length > 0 ? <Fields caption="Body" fields={body.fields} /> : null}
        <Fields caption="Response" fields={response.fields} />
        <Example label={`Response of ${summary}`} text={response.example} />
        <Errors errors={errors} of={summary} />
      </div>
      <div className="min-w-0">
        <TryIt ids={ids} operation={operation} />
      </div>
    </section>
  );
}

function Fields({ caption, fields }: { caption: string; fields: DocumentField[] }) {
  return (
    <div>
      <h3 className="pb-1 font-medium">{caption}</h3>
      <LineList
        columns={FIELD_COLUMNS}
        form="table"
        inset
        hideHeads
        keyOf={({ name }) => name}
        label={caption}
        lines={fields}
      />
    </div>
  );
}

const FIELD_COLUMNS: LineColumn<DocumentField>[] = [
  {
    head: "Name and type",
    width: "w-[45%]",
    area: "line",
    look: "wrap",
    cell: ({ name, type, required }) => (
      <>
        <span className="mono">{name}</span>
        <span className="block text-muted text-xs">
          {type}
          {required ? "" : ", optional"}
        </span>
      </>
    ),
  },
  {
    head: "Description",
    area: "line",
    cell: ({ description }) => <span className="text-muted">{description}</span>,
  },
];

function Example({ label, text }: { label: string; text: string }) {
  return (
    <details>
      <summary className="min-h-6 cursor-pointer text-accent">Example</summary>
      <section
        aria-label={label}
        className="mt-1.5 max-h-96 overflow-auto rounded-md border border-line bg-surface px-3 py-2"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        tabIndex={0}
      >
        <pre className="mono">{text}</pre>
      </section>
    </details>
  );
}

function Errors({ errors, of }: { errors: Operation["errors"]; of: string }) {
  return (
    <details>
      <summary className="min-h-6 cursor-pointer text-accent">Errors</summary>
      <dl aria-label={`Errors of ${of}`} className="mt-1.5">
        {errors.map(({ status, description }) => (
          <div className="grid grid-cols-[3rem_minmax(0,1fr)] border-line border-t py-1" key={status}>
            <dt className="mono">{status}</dt>
            <dd className="text-muted">{description}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
