"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { SelectField } from "@/app/_ui/forms/form";
import { Link } from "@/app/_ui/link";
import { RUN_KINDS } from "@/server/contract/enums";

type TargetFieldProps = {
  value: string;
  error: string | undefined;
  toolHint?: string;
  onChange: (target: string) => void;
};

export function TargetField({ toolHint, ...field }: TargetFieldProps) {
  const trpc = useTRPC();
  const directory = useQuery(trpc.catalog.directory.queryOptions());
  const entries = (directory.data ?? []).filter(({ kind }) => kind !== "trigger");
  const unread = directory.isError ? "Could not load agents and tools. Open the form again." : undefined;
  return (
    <SelectField
      {...field}
      error={field.error ?? unread}
      hint={
        directory.data && entries.length === 0 ? (
          <>
            There are none yet.{" "}
            <Link className="text-accent underline" href="/agents/new">
              Create an agent
            </Link>{" "}
            first.
          </>
        ) : field.value.startsWith("tool/") ? (
          toolHint
        ) : undefined
      }
      label="Starts"
    >
      <option disabled value="">
        {directory.isPending ? "Loading" : "Choose an agent or a tool"}
      </option>
      {RUN_KINDS.map((kind) => (
        <optgroup key={kind} label={kind === "agent" ? "Agents" : "Tools"}>
          {entries
            .filter((entry) => entry.kind === kind)
            .map(({ id, slug, name }) => (
              <option key={id} value={`${kind}/${slug}`}>
                {name}
              </option>
            ))}
        </optgroup>
      ))}
    </SelectField>
  );
}
