"use client";

import { useState } from "react";
import { memberOf } from "@/app/_ui/json-paths";
import { Scalar } from "@/app/_ui/json-tree";
import { Sideways } from "@/app/_ui/sideways";
import type { Json } from "@/server/json";

const ROWS_AT_ONCE = 100;

/** A list of objects as a table; nested values are written short. */
export function JsonTable({ rows, columns }: { rows: Json[]; columns: string[] }) {
  const [shown, setShown] = useState(ROWS_AT_ONCE);
  return (
    <Sideways className="mono" label="Values as a table">
      <table className="border-collapse text-left">
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                className="whitespace-nowrap border border-line bg-surface px-2 py-1 font-normal text-json-key"
                key={column}
                scope="col"
              >
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a fixed document.
            <tr key={index}>
              {columns.map((column) => (
                <td className="max-w-80 border border-line px-2 py-1 align-top" key={column}>
                  <TableValue row={row} column={column} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown ? (
        <button
          className="mt-2 text-accent hover:underline"
          onClick={() => setShown(shown + 500)}
          type="button"
        >
          {rows.length - shown} more rows
        </button>
      ) : null}
    </Sideways>
  );
}

function TableValue({ row, column }: { row: Json; column: string }) {
  if (typeof row !== "object" || row === null || Array.isArray(row) || !Object.hasOwn(row, column))
    return null;
  const value = memberOf(row, column);
  if (typeof value !== "object" || value === null) return <Scalar search={null} value={value} />;
  const text = JSON.stringify(value);
  return (
    <span className="text-muted [overflow-wrap:anywhere]">
      {text.length > 200 ? `${text.slice(0, 200)}…` : text}
    </span>
  );
}
