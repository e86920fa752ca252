import type { MemberRole } from "@/server/auth/actor";
import {
  AgentIcon,
  AuditIcon,
  ChartIcon,
  CreditsIcon,
  KeyIcon,
  MembersIcon,
  RunsIcon,
  ToolIcon,
  TriggerIcon,
} from "../_ui/icons";

const NAV_ITEMS = [
  { href: "/runs", label: "Runs", Icon: RunsIcon },
  { href: "/metrics", label: "Metrics", Icon: ChartIcon },
  { href: "/agents", label: "Agents", Icon: AgentIcon },
  { href: "/tools", label: "Tools", Icon: ToolIcon },
  { href: "/triggers", label: "Triggers", Icon: TriggerIcon },
  { href: "/keys", label: "API keys", Icon: KeyIcon },
  { href: "/credits", label: "Credits", Icon: CreditsIcon },
  { href: "/members", label: "Members", Icon: MembersIcon },
  { href: "/audit", label: "Audit log", Icon: AuditIcon, forAdmins: true },
] as const;

/** The pages in the navigation, for a role. */
export function navItems(role: MemberRole): (typeof NAV_ITEMS)[number][] {
  const admin = role === "admin" || role === "owner";
  return NAV_ITEMS.filter((item) => admin || !("forAdmins" in item));
}
