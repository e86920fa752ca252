"use client";

import { createContext, type ReactNode, useContext } from "react";
import { type MemberRole, roleCovers } from "@/server/base/actor";

export const RoleContext = createContext<MemberRole>("viewer");

/** Returns true if the person has `role`. The server checks it again. */
export function useMay(role: MemberRole): boolean {
  return roleCovers(useContext(RoleContext), role);
}

export function ForMembers({ children }: { children: ReactNode }) {
  return useMay("member") ? children : null;
}
