"use client";

import { Button } from "@/app/_ui/button";
import { Dialog, DialogActions } from "@/app/_ui/dialog";
import { ConfirmDialog } from "@/app/_ui/forms/form-dialog";
import type { DefinitionRef } from "@/server/catalog/definition-rows";
import { UsedBy, type User } from "../../used-by";
import type { useArchive } from "../use-archive";

type ArchiveDialogProps = {
  of: DefinitionRef & { name: string };
  users: User[];
  form: ReturnType<typeof useArchive>;
};

/**
 * Confirms that an agent or tool is archived although others use it. A tool that agents use cannot be archived: the dialog
 * names them.
 */
export function ArchiveDialog({ of, users, form }: ArchiveDialogProps) {
  const { kind, name } = of;
  const { onClose } = form.dialog;
  const agents = users.filter((user) => user.kind === "agent");
  if (kind === "tool" && agents.length > 0) {
    return (
      <Dialog onClose={onClose} title={`${name} cannot be archived yet`}>
        <div className="flex flex-col gap-2 [overflow-wrap:anywhere]">
          <UsedBy
            effect="Remove the tool there first."
            many="agents use"
            one="agent uses"
            users={{ data: agents, error: null }}
          />
        </div>
        <DialogActions>
          <Button onClick={onClose}>Close</Button>
        </DialogActions>
      </Dialog>
    );
  }
  return (
    <ConfirmDialog
      {...form.dialog}
      act={`Archive ${kind}`}
      acting="Archiving"
      onConfirm={() => form.send(of)}
      title={`Archive ${name}`}
    >
      <UsedBy
        effect={`${users.length === 1 ? "Its" : "Their"} calls fail until you restore it.`}
        many="tools and triggers use"
        one={`${users[0]?.kind} uses`}
        users={{ data: users, error: null }}
      />
    </ConfirmDialog>
  );
}
