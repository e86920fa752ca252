"use client";

import dynamic from "next/dynamic";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { type ReactNode, useState } from "react";
import { classNames } from "@/app/_ui/class-names";
import { rememberInCookie } from "@/app/_ui/cookie";
import {
  AgentIcon,
  AuditIcon,
  ChartIcon,
  CreditsIcon,
  KeyIcon,
  MembersIcon,
  MenuIcon,
  MoonIcon,
  RunsIcon,
  SignOutIcon,
  StepwellMark,
  SunIcon,
  SystemThemeIcon,
  ToolIcon,
  TriggerIcon,
  UpDownIcon,
} from "@/app/_ui/icons";
import { Menu, MenuChoice, MenuHeading, MenuItem, MenuSeparator } from "@/app/_ui/menu";
import { useTRPCClient } from "@/app/_ui/providers";
import { RoleContext } from "@/app/_ui/role";
import { signOut } from "@/app/_ui/sign-out";
import type { MemberRole } from "@/server/auth/actor";
import type { OrganizationLine } from "@/server/auth/organizations";

/** Only phones need it: its parts are loaded with the first tap. */
const Drawer = dynamic(() => import("./drawer").then((module) => module.Drawer), { ssr: false });

const PLACES = [
  { href: "/runs", label: "Runs", Icon: RunsIcon },
  { href: "/metrics", label: "Metrics", Icon: ChartIcon },
  { href: "/agents", label: "Agents", Icon: AgentIcon },
  { href: "/tools", label: "Tools", Icon: ToolIcon },
  { href: "/triggers", label: "Triggers", Icon: TriggerIcon },
  { href: "/keys", label: "API keys", Icon: KeyIcon },
  { href: "/credits", label: "Credits", Icon: CreditsIcon },
  { href: "/members", label: "Members", Icon: MembersIcon },
  { href: "/audit", label: "Audit log", Icon: AuditIcon, role: "admin" },
] as const;

export type Theme = "system" | "light" | "dark";

type FrameProps = {
  organizations: OrganizationLine[];
  role: MemberRole;
  suspended: boolean;
  theme: Theme;
  user: { name: string; email: string };
};

/** What stands around every page: places, organization, person. On a phone the places fold into a drawer. */
export function Frame({ children, ...props }: FrameProps & { children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[13rem_minmax(0,1fr)]">
      <a
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-raised focus:px-3 focus:py-2"
        href="#content"
      >
        Skip to content
      </a>
      <div className="sticky top-0 z-30 flex h-12 items-center gap-2 border-line border-b bg-surface px-2 md:hidden">
        <button
          aria-expanded={open}
          aria-haspopup="dialog"
          aria-label="Open the menu"
          className="flex size-9 items-center justify-center rounded-md hover:bg-hover"
          onClick={() => setOpen(true)}
          type="button"
        >
          <MenuIcon />
        </button>
        {open ? (
          <Drawer onClose={() => setOpen(false)}>
            <Sidebar {...props} onGo={() => setOpen(false)} />
          </Drawer>
        ) : null}
        <StepwellMark className="text-accent" />
        <span className="truncate font-medium">{props.organizations.find((each) => each.active)?.name}</span>
      </div>
      <div className="sticky top-0 hidden h-dvh flex-col border-line border-r bg-surface md:flex">
        <Sidebar {...props} onGo={() => {}} />
      </div>
      <main className="min-w-0 max-w-[90rem]" id="content">
        {props.suspended ? (
          <p className="border-line border-b bg-waiting-wash px-4 py-2 sm:px-6" role="status">
            This organization is suspended: runs can be read, not started. The operator of this installation
            can lift it.
          </p>
        ) : null}
        <RoleContext value={props.role}>{children}</RoleContext>
      </main>
    </div>
  );
}

function Sidebar({ organizations, role, theme, user, onGo }: FrameProps & { onGo: () => void }) {
  const path = usePathname();
  return (
    <>
      <div className="flex h-12 items-center px-2 pr-12 md:pr-2">
        <OrganizationMenu organizations={organizations} />
      </div>
      <nav aria-label="Places" className="flex flex-1 flex-col gap-px overflow-y-auto px-2 py-1">
        {PLACES.filter((place) => !("role" in place) || role === "admin" || role === "owner").map(
          ({ href, label, Icon }) => {
            const here = path === href || path.startsWith(`${href}/`);
            return (
              <Link
                aria-current={here ? "page" : undefined}
                className={classNames(
                  "flex h-8 items-center gap-2.5 rounded-md px-2",
                  here ? "bg-selected font-medium text-ink" : "text-muted hover:bg-hover hover:text-ink",
                )}
                href={href}
                key={href}
                onClick={onGo}
              >
                <Icon className={here ? "text-accent" : undefined} />
                {label}
              </Link>
            );
          },
        )}
      </nav>
      <div className="border-line border-t p-2">
        <PersonMenu role={role} theme={theme} user={user} />
      </div>
    </>
  );
}

function OrganizationMenu({ organizations }: { organizations: OrganizationLine[] }) {
  const client = useTRPCClient();
  const active = organizations.find((each) => each.active);
  async function choose(organizationId: string) {
    if (organizationId === active?.id) return;
    await client.account.switchOrganization.mutate({ organizationId });
    window.location.assign("/runs");
  }
  return (
    <Menu
      align="start"
      trigger={
        <>
          <StepwellMark className="shrink-0 text-accent" />
          <span className="min-w-0 flex-1 truncate font-medium">
            <span className="sr-only">Organization </span>
            {active?.name}
          </span>
          <UpDownIcon className="shrink-0 text-muted" />
        </>
      }
      triggerClass="flex h-9 w-full min-w-0 items-center gap-2 rounded-md px-1.5 text-left hover:bg-hover"
    >
      <MenuHeading>Organization</MenuHeading>
      <MenuChoice
        onChange={(id) => void choose(id)}
        options={organizations.map(({ id, name }) => ({ value: id, label: name }))}
        value={active?.id ?? ""}
      />
    </Menu>
  );
}

const THEMES = [
  { value: "system", label: "As the system", icon: <SystemThemeIcon className="text-muted" /> },
  { value: "light", label: "Light", icon: <SunIcon className="text-muted" /> },
  { value: "dark", label: "Dark", icon: <MoonIcon className="text-muted" /> },
] as const;

function PersonMenu({
  role,
  theme,
  user,
}: {
  role: MemberRole;
  theme: Theme;
  user: { name: string; email: string };
}) {
  const [chosen, setChosen] = useState<Theme>(theme);
  return (
    <Menu
      align="start"
      trigger={
        <>
          <span
            aria-hidden="true"
            className="flex size-6 shrink-0 items-center justify-center rounded-full bg-accent-wash font-medium text-accent text-xs uppercase"
          >
            {user.name.slice(0, 1)}
          </span>
          <span className="min-w-0 flex-1 truncate">
            <span className="sr-only">Signed in as </span>
            {user.name}
          </span>
          <span className="text-muted text-xs">{role}</span>
        </>
      }
      triggerClass="flex h-9 w-full min-w-0 items-center gap-2 rounded-md px-1.5 text-left hover:bg-hover"
    >
      <MenuHeading>{user.email}</MenuHeading>
      <MenuSeparator />
      <MenuHeading>Appearance</MenuHeading>
      <MenuChoice
        onChange={(next) => {
          setChosen(next);
          applyTheme(next);
        }}
        options={THEMES}
        value={chosen}
      />
      <MenuSeparator />
      <MenuItem onClick={() => void signOut()}>
        <SignOutIcon className="text-muted" />
        Sign out
      </MenuItem>
    </Menu>
  );
}

/** Changes the theme in place and remembers it in a cookie, so that the server paints it from the first byte. */
function applyTheme(theme: Theme): void {
  const root = document.documentElement;
  rememberInCookie("theme", theme === "system" ? null : theme);
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
}
