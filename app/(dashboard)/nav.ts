import type { MemberRole } from "@/server/auth/actor";
import {
  AccountIcon,
  AgentIcon,
  AuditIcon,
  ChartIcon,
  CreditsIcon,
  KeyIcon,
  MembersIcon,
  OrganizationIcon,
  ReferenceIcon,
  RunsIcon,
  SecretIcon,
  ToolIcon,
  TriggerIcon,
} from "../_ui/icons";

const NAV_ITEMS = [
  { href: "/runs", label: "Runs", Icon: RunsIcon },
  { href: "/metrics", label: "Metrics", Icon: ChartIcon },
  { href: "/agents", label: "Agents", Icon: AgentIcon },
  { href: "/tools", label: "Tools", Icon: ToolIcon },
  { href: "/triggers", label: "Triggers", Icon: TriggerIcon },
  { href: "/secrets", label: "Secrets", Icon: SecretIcon },
  { href: "/keys", label: "API keys", Icon: KeyIcon },
  { href: "/credits", label: "Credits", Icon: CreditsIcon },
  { href: "/members", label: "Members", Icon: MembersIcon },
  { href: "/organization", label: "Organization", Icon: OrganizationIcon },
  { href: "/audit", label: "Audit log", Icon: AuditIcon, forAdmins: true },
  { href: "/api-reference", label: "API reference", Icon: ReferenceIcon },
] as const;

/** The page of the reader's own account, which the account menu and the palette offer. */
export const ACCOUNT_ITEM = { href: "/account", label: "Account", Icon: AccountIcon } as const;

/** The pages in the navigation, for a role. */
export function navItems(role: MemberRole): (typeof NAV_ITEMS)[number][] {
  const admin = role === "admin" || role === "owner";
  return NAV_ITEMS.filter((item) => admin || !("forAdmins" in item));
}
