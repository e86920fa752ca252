import type { MemberRole } from "@/server/base/actor";
import {
  AccountIcon,
  AgentIcon,
  AuditIcon,
  CallbackIcon,
  ChartIcon,
  CreditsIcon,
  KeyIcon,
  MembersIcon,
  ModelIcon,
  OrganizationIcon,
  ReferenceIcon,
  RunsIcon,
  ScheduleIcon,
  SecretIcon,
  SystemIcon,
  ToolIcon,
  TriggerIcon,
} from "../_ui/icons";

const NAV_GROUPS = [
  {
    title: null,
    items: [
      { href: "/runs", label: "Runs", Icon: RunsIcon },
      { href: "/metrics", label: "Metrics", Icon: ChartIcon },
    ],
  },
  {
    title: "Build",
    items: [
      { href: "/agents", label: "Agents", Icon: AgentIcon },
      { href: "/tools", label: "Tools", Icon: ToolIcon },
      { href: "/triggers", label: "Triggers", Icon: TriggerIcon },
      { href: "/schedules", label: "Schedules", Icon: ScheduleIcon },
      { href: "/models", label: "Model providers", Icon: ModelIcon },
      { href: "/secrets", label: "Secrets", Icon: SecretIcon },
      { href: "/callbacks", label: "Callbacks", Icon: CallbackIcon },
      { href: "/keys", label: "API keys", Icon: KeyIcon },
      { href: "/api-reference", label: "API reference", Icon: ReferenceIcon },
    ],
  },
  {
    title: "Organization",
    items: [
      { href: "/credits", label: "Credits", Icon: CreditsIcon },
      { href: "/members", label: "Members", Icon: MembersIcon },
      { href: "/audit", label: "Audit log", Icon: AuditIcon, forAdmins: true },
      { href: "/organization", label: "Settings", Icon: OrganizationIcon },
    ],
  },
] as const;

type NavItem = (typeof NAV_GROUPS)[number]["items"][number];

/** The page of the reader's own account, which the account menu and the palette offer. */
export const ACCOUNT_ITEM = { href: "/account", label: "Account", Icon: AccountIcon } as const;

/** The page of operators, below the groups. */
export const SYSTEM_ITEM = { href: "/system", label: "System", Icon: SystemIcon } as const;

export function navGroups(role: MemberRole): { title: string | null; items: NavItem[] }[] {
  const admin = role === "admin" || role === "owner";
  return NAV_GROUPS.map(({ title, items }) => ({
    title,
    items: items.filter((item) => admin || !("forAdmins" in item)),
  }));
}
