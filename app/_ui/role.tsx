"use client";

import { createContext, type ReactNode, useContext } from "react";
import { type MemberRole, roleCovers } from "@/server/base/actor";

/** The signed-in person's role in the active organization. */
export const RoleContext = createContext<MemberRole>("viewer");

/** Returns true if the person has `role`. The server checks it again. */
export function useMay(role: MemberRole): boolean {
  return roleCovers(useContext(RoleContext), role);
}

/** Shows its children only to members and above. */
export function ForMembers({ children }: { children: ReactNode }) {
  return useMay("member") ? children : null;
}
