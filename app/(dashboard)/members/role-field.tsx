"use client";

import { SelectField } from "@/app/_ui/forms/form";
import { ROLE_LABELS } from "@/app/_ui/role-labels";
import type { MemberRole } from "@/server/auth/actor";
import { MAY, ROLES } from "./roles";

/** A choice of roles with what the chosen one may do. */
export function RoleField({
  value,
  error,
  mayAppointOwners,
  onChange,
}: {
  value: MemberRole;
  error: string | undefined;
  mayAppointOwners: boolean;
  onChange: (role: MemberRole) => void;
}) {
  return (
    <SelectField
      error={error}
      hint={`May do: ${MAY[value]}.`}
      label="Role"
      onChange={(text) => {
        const role = ROLES.find((each) => each === text);
        if (role) onChange(role);
      }}
      value={value}
    >
      {ROLES.map((role) => (
        <option disabled={role === "owner" && !mayAppointOwners} key={role} value={role}>
          {ROLE_LABELS[role]}
          {role === "owner" && !mayAppointOwners ? " (only an owner appoints owners)" : null}
        </option>
      ))}
    </SelectField>
  );
}
