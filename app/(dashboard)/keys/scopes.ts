import type { KeyScope } from "@/server/base/actor";

/** The order of the permissions of a key in forms and lists. */
export const SCOPE_GROUPS: readonly { label: string; scopes: readonly KeyScope[] }[] = [
  { label: "Runs", scopes: ["runs:start", "runs:read", "runs:list"] },
  {
    label: "Agents, tools and triggers",
    scopes: ["definitions:read", "definitions:write", "deliveries:read"],
  },
  { label: "Credits", scopes: ["credits:read"] },
];
