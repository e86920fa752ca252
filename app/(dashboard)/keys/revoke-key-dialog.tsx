"use client";

import { useMutation } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { Ago } from "@/app/_ui/figures/time";
import { ConfirmDialog } from "@/app/_ui/forms/form-dialog";
import { useNotify } from "@/app/_ui/toast";
import type { KeyLine } from "@/server/catalog/overview";

/** Confirms, then revokes a key. */
export function RevokeKeyDialog({ line, onClose }: { line: KeyLine; onClose: () => void }) {
  const trpc = useTRPC();
  const notify = useNotify();
  const revoke = useMutation(
    trpc.keys.revoke.mutationOptions({
      meta: { refresh: [trpc.catalog.keys.pathKey()] },
      onSuccess: () => {
        notify(`The key ${line.name} is revoked`);
        onClose();
      },
    }),
  );
  return (
    <ConfirmDialog
      act="Revoke key"
      acting="Revoking"
      mutation={revoke}
      onClose={onClose}
      onConfirm={() => revoke.mutate({ id: line.id })}
      title={`Revoke ${line.name}`}
    >
      <p>
        Programs that use <span className="mono">{line.prefix}…</span> get status 401 immediately. This cannot
        be undone.
      </p>
      <p className="text-muted">
        {line.lastUsedAt ? (
          <>
            The key was last used <Ago at={line.lastUsedAt} />.
          </>
        ) : (
          "The key was never used."
        )}{" "}
        Runs that it started continue.
      </p>
    </ConfirmDialog>
  );
}
