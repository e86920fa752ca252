import type { KeyScope } from "@/server/base/actor";

/** The permissions of a key, with what each lets a program do. */
export const SCOPE_GROUPS: readonly {
  label: string;
  scopes: readonly { scope: KeyScope; label: string; hint: string }[];
}[] = [
  {
    label: "Runs",
    scopes: [
      { scope: "runs:start", label: "Start runs", hint: "Start, repeat and cancel runs." },
      { scope: "runs:read", label: "Read runs", hint: "See input, output, steps and receipt of a run." },
      { scope: "runs:list", label: "List runs", hint: "List and search runs, and read metrics." },
    ],
  },
  {
    label: "Agents, tools and triggers",
    scopes: [
      { scope: "definitions:read", label: "Read definitions", hint: "See definitions and their versions." },
      { scope: "definitions:write", label: "Change definitions", hint: "Create, change and archive them." },
      { scope: "deliveries:read", label: "Read deliveries", hint: "List the calls that triggers received." },
    ],
  },
  {
    label: "Credits",
    scopes: [
      { scope: "credits:read", label: "Read credits", hint: "See the organization's balance and ledger." },
    ],
  },
];
