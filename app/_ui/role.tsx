"use client";

import { createContext, type ReactNode, useContext } from "react";
import type { MemberRole } from "@/server/auth/actor";

const RANKS: Record<MemberRole, number> = { viewer: 0, member: 1, admin: 2, owner: 3 };

/** The signed-in person's role in the active organization. */
export const RoleContext = createContext<MemberRole>("viewer");

/** Whether to offer what needs `role`. The server checks it again. */
export function useMay(role: MemberRole): boolean {
  return RANKS[useContext(RoleContext)] >= RANKS[role];
}

/** What is shown only to members and above. */
export function ForMembers({ children }: { children: ReactNode }) {
  return useMay("member") ? children : null;
}
