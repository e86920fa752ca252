import dynamic from "next/dynamic";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { readJson } from "@/server/base/json/json";
import { readSchema } from "../../_schema/field";
import { controlOf } from "../../_schema/value";
import { rowsOf, type SchemaRow } from "./schema-rows";

const JsonView = dynamic(() => import("@/app/_ui/json/view").then((part) => part.JsonView));

/** The properties of a JSON Schema as a table; a schema that is not an object with properties as a document. */
export function SchemaTable({ label, schema }: { label: string; schema: string }) {
  const root = readSchema(readJson(schema));
  const rows = rowsOf(root);
  if (controlOf(root) !== "object") return <JsonView text={schema} />;
  if (rows.length === 0) return <p className="text-muted">No properties.</p>;
  return <LineList columns={COLUMNS} inset hideHeads keyOf={({ path }) => path} label={label} lines={rows} />;
}

const COLUMNS: LineColumn<SchemaRow>[] = [
  {
    head: "Name",
    width: "w-[28%]",
    area: "line",
    look: "wrap",
    cell: ({ path }) => <span className="mono font-medium">{path}</span>,
  },
  {
    head: "Type",
    width: "w-[26%]",
    area: "line",
    cell: ({ type, required }) => (
      <span className="text-muted">
        {type}
        {required ? <span className="text-ink">, required</span> : null}
      </span>
    ),
  },
  {
    head: "Description",
    area: "line",
    look: "wrap",
    cell: ({ description, rules }) => (
      <>
        {description}
        {rules ? <span className="block text-muted text-xs">{rules}</span> : null}
      </>
    ),
  },
];
