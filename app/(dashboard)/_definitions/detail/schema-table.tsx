import dynamic from "next/dynamic";
import { readField } from "../../_run/schema-value";
import { rowsOf } from "./schema-rows";

/** Only a schema that is not an object with properties needs it. */
const JsonView = dynamic(() => import("@/app/_ui/json/view").then((part) => part.JsonView));

/** The properties of a JSON Schema as a table; a schema that is not an object with properties as a document. */
export function SchemaTable({ label, schema }: { label: string; schema: string }) {
  const parsed: unknown = JSON.parse(schema);
  const rows = rowsOf(parsed);
  if (readField(parsed).kind !== "object") return <JsonView text={schema} />;
  if (rows.length === 0) return <p className="text-muted">No properties.</p>;
  return (
    <table aria-label={label} className="w-full border-line border-t text-left">
      <thead className="sr-only">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Type</th>
          <th scope="col">Description</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ path, type, required, description, rules }) => (
          <tr
            className="align-baseline *:border-line *:border-b *:py-2 max-sm:block max-sm:border-line max-sm:border-b max-sm:py-2 max-sm:*:block max-sm:*:border-0 max-sm:*:py-0"
            key={path}
          >
            <td className="pr-4 [overflow-wrap:anywhere] sm:w-[28%]">
              <span className="mono font-medium">{path}</span>
            </td>
            <td className="whitespace-nowrap pr-4 text-muted sm:w-[26%]">
              {type}
              {required ? <span className="text-ink">, required</span> : null}
            </td>
            <td className="[overflow-wrap:anywhere]">
              {description}
              {rules ? <span className="block text-muted text-xs">{rules}</span> : null}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
