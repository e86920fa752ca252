"use client";

import { Button } from "@/app/_ui/button";
import { Ago } from "@/app/_ui/figures/time";
import { useMay } from "@/app/_ui/role";
import type { ArchivedLine } from "@/server/catalog/archive";
import type { DefinitionRef } from "@/server/catalog/definition-rows";
import { useRestore } from "../use-archive";

/** The archived agents or tools below their list, with the way back. */
export function Archived({ kind, lines }: { kind: DefinitionRef["kind"]; lines: readonly ArchivedLine[] }) {
  const mayRestore = useMay("member");
  if (lines.length === 0) return null;
  return (
    <details className="mt-4 border-line border-t">
      <summary className="flex min-h-10 cursor-pointer items-center px-4 py-1.5 text-muted hover:bg-hover sm:px-6">
        Archived {kind}s: {lines.length}
      </summary>
      <ul aria-label={`Archived ${kind}s`}>
        {lines.map(({ id, slug, name, version, at }) => (
          <li
            className="flex min-h-10 flex-wrap items-center gap-x-3 border-line border-t px-4 py-1.5 sm:px-6"
            key={id}
          >
            <span className="font-medium [overflow-wrap:anywhere]">{name}</span>
            <span className="mono text-muted [overflow-wrap:anywhere]">{slug}</span>
            <span className="text-faint">v{version}</span>
            <span className="ml-auto whitespace-nowrap text-muted">
              archived <Ago at={at} />
            </span>
            {mayRestore ? <RestoreButton of={{ kind, id, name }} /> : null}
          </li>
        ))}
      </ul>
    </details>
  );
}

function RestoreButton({ of }: { of: DefinitionRef & { name: string } }) {
  const restore = useRestore(of);
  return (
    <Button aria-label={`Restore ${of.name}`} disabled={restore.isPending} onClick={() => restore.mutate(of)}>
      Restore
    </Button>
  );
}
