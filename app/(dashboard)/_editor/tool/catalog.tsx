"use client";

import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { Dialog } from "@/app/_ui/dialog";
import { FindList } from "@/app/_ui/find-list";
import { SkeletonLine } from "@/app/_ui/page/page";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { Choices, FunctionChoice } from "@/server/catalog/edit-definition";
import { findItems } from "../../../_ui/rank";
import { readSchema } from "../../_schema/field";
import { emptyOf } from "../../_schema/value";

/** A call for a new step. `keywords`: words for what it does. `stepId`: the base of the step's id. */
export type Callable = { id: string; label: string; keywords: string; stepId: string; step: object };

type CatalogProps = { title: string; onPick: (callable: Callable) => void; onClose: () => void };

/** Functions and tools to pick for a new step, with a search. The caller moves the focus to the new step. */
export function Catalog({ title, onPick, onClose }: CatalogProps) {
  const trpc = useTRPC();
  const choices = useQuery(trpc.definitions.choices.queryOptions());
  const functions = useQuery(trpc.definitions.functions.queryOptions());
  const [text, setText] = useState("");
  const picked = useRef(false);
  function pick(callable: Callable) {
    picked.current = true;
    onPick(callable);
  }
  const failed = [choices, functions].find(({ isError }) => isError);
  const isLoaded = choices.data !== undefined && functions.data !== undefined;
  return (
    <Dialog finalFocus={() => !picked.current} onClose={onClose} title={title}>
      <div className="-m-4">
        <FindList
          groups={findItems(
            groupsOf(functions.data ?? [], choices.data?.tools ?? []),
            text,
            Number.POSITIVE_INFINITY,
          )}
          label="Search functions and tools"
          nothing={
            isLoaded ? (
              <p className="px-4 py-4 text-muted">Nothing matches “{text}”.</p>
            ) : failed ? (
              <Unreadable query={failed} what="Could not load functions and tools" />
            ) : (
              <SkeletonLine className="m-4 w-40" />
            )
          }
          onTake={pick}
          onText={setText}
          placeholder="Search functions and tools"
          text={text}
        >
          {({ label, keywords }) => (
            <span className="min-w-0">
              <span className="mono block font-medium">{label}</span>
              <span className="line-clamp-2 text-muted text-xs">{keywords}</span>
            </span>
          )}
        </FindList>
      </div>
    </Dialog>
  );
}

function groupsOf(functions: readonly FunctionChoice[], tools: Choices["tools"]) {
  return [
    {
      name: "Functions",
      items: functions.map(
        ({ name, description, input }): Callable => ({
          id: name,
          label: name,
          keywords: description,
          stepId: name,
          step: { uses: name, with: requiredInputs(JSON.parse(input)) },
        }),
      ),
    },
    {
      name: "Tools",
      items: tools.map(
        ({ slug, name, description }): Callable => ({
          id: `tool ${slug}`,
          label: slug,
          keywords: description || name,
          stepId: slug.replaceAll("-", "_").replace(/^\d/, "_$&"),
          step: { uses: "run_tool", with: { tool: slug, input: {} } },
        }),
      ),
    },
  ];
}

function requiredInputs(schema: unknown): Record<string, unknown> {
  const required = readSchema(schema).fields.filter((field) => field.required);
  return Object.fromEntries(
    required.flatMap((field) => {
      const empty = emptyOf(field);
      return empty === undefined ? [] : [[field.name, empty] as const];
    }),
  );
}
