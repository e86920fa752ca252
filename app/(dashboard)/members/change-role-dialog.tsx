"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { ROLE_LABELS } from "@/app/_ui/role-labels";
import { useNotify } from "@/app/_ui/toast";
import type { MemberLine } from "@/server/auth/list-members";
import { RoleField } from "./role-field";

/** Changes a member's role. */
export function ChangeRoleDialog({
  member,
  mayAppointOwners,
  onClose,
}: {
  member: MemberLine;
  mayAppointOwners: boolean;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const router = useRouter();
  const notify = useNotify();
  const [role, setRole] = useState(member.role);
  const change = useMutation(
    trpc.members.changeRole.mutationOptions({
      meta: { refresh: [trpc.organization.members.pathKey()] },
      onSuccess: (saved) => {
        // The layout offers what the reader's own role allows.
        if (member.self) router.refresh();
        notify(`${member.name} has the role ${ROLE_LABELS[saved.role]}`);
        onClose();
      },
    }),
  );
  const problems = readProblems(change.error, { "/role": "Role" });
  return (
    <FormDialog
      act="Change role"
      acting="Changing"
      mutation={change}
      onClose={onClose}
      onSubmit={() => change.mutate({ userId: member.userId, role })}
      problem={problems.rest}
      title={`Change the role of ${member.name}`}
    >
      <RoleField
        error={problems.at("/role")}
        mayAppointOwners={mayAppointOwners}
        onChange={setRole}
        value={role}
      />
      {member.self && role !== member.role ? (
        <p className="rounded-md bg-waiting-wash px-2.5 py-2 text-waiting">
          This is your own role. Another {ROLE_LABELS[member.role]} must change it back.
        </p>
      ) : null}
    </FormDialog>
  );
}
