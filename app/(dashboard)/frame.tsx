"use client";

import clsx from "clsx";
import { usePathname } from "next/navigation";
import { type ReactNode, useState } from "react";
import { useOtherOrganization } from "@/app/_ui/data/connection";
import { DocsIcon, MenuIcon, SearchIcon, StepwellMark, UpDownIcon } from "@/app/_ui/icons";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { Menu, MenuChoice, MenuHeading } from "@/app/_ui/menu/menu";
import { ConnectionLost, LiveRejected, OrganizationLeft, SessionEnded } from "@/app/_ui/page/notice-bars";
import { RoleContext } from "@/app/_ui/role";
import type { MemberRole } from "@/server/base/actor";
import type { OrganizationLine } from "@/server/catalog/auth/own-account";
import { preloadPalette, usePalette } from "./_palette/use-palette";
import { guideFor } from "./docs/guides";
import { type Folded, foldedClasses } from "./folded";
import { navGroups, SYSTEM_ITEM } from "./nav";
import { PersonMenu } from "./person-menu";
import { useTheme } from "./theme";
import { useSwitchOrganization } from "./use-switch-organization";

const Drawer = lazy(() => import("./drawer"), "Drawer");

type FrameProps = {
  organizations: OrganizationLine[];
  role: MemberRole;
  isOperator: boolean;
  suspended: boolean;
  user: { name: string; email: string };
  mac: boolean;
};

/** Editors need the width. */
const IS_EDITOR = /^\/(agents|tools)\/(new|[^/]+\/(edit|copy))$/;

export function Frame({ children, ...props }: FrameProps & { children: ReactNode }) {
  const { organizations, role, isOperator, mac } = props;
  const [open, setOpen] = useState(false);
  const folded = IS_EDITOR.test(usePathname()) ? "always" : "narrow";
  const change = useSwitchOrganization();
  const { onTheme } = useTheme();
  const active = organizations.find((each) => each.active);
  const isElsewhere = useOtherOrganization() !== null;
  const others = organizations.filter((each) => isElsewhere || !each.active);
  const onOrganization = (organizationId: string) => change.mutate({ organizationId });
  const { palette, openPalette } = usePalette({ role, isOperator, others, onTheme, onOrganization }, mac);
  const sidebar = { ...props, onOrganization, onPalette: openPalette };
  const frame = (
    <div
      className={clsx(
        "min-h-dvh md:grid",
        "md:grid-cols-[3.5rem_minmax(0,1fr)]",
        folded === "narrow" && "xl:grid-cols-[13.5rem_minmax(0,1fr)]",
      )}
    >
      <a
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-raised focus:px-3 focus:py-2"
        href="#content"
      >
        Skip to content
      </a>
      <aside
        aria-label="Top bar"
        className="sticky top-0 z-30 flex h-12 items-center gap-2 border-line border-b bg-surface px-2 md:hidden"
      >
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
            <Sidebar
              {...sidebar}
              folded="never"
              onGo={() => setOpen(false)}
              onPalette={() => {
                setOpen(false);
                openPalette();
              }}
            />
          </Drawer>
        ) : null}
        <StepwellMark className="text-accent" />
        <span className="min-w-0 flex-1 truncate font-medium">{active?.name}</span>
        <button
          aria-haspopup="dialog"
          aria-label="Search or go to"
          className="flex size-9 shrink-0 items-center justify-center rounded-md hover:bg-hover"
          onClick={openPalette}
          onPointerDown={preloadPalette}
          type="button"
        >
          <SearchIcon />
        </button>
      </aside>
      {palette}
      <aside
        aria-label="Sidebar"
        className="sticky top-0 hidden h-dvh flex-col border-line border-r bg-sidebar md:flex"
      >
        <Sidebar {...sidebar} folded={folded} onGo={() => {}} />
      </aside>
      <main className="min-w-0 max-w-[90rem]" id="content">
        {props.suspended ? (
          <p className="border-line border-b bg-waiting-wash px-4 py-2 sm:px-6" role="status">
            This organization is suspended: you can read runs but not start any. The operator can lift the
            suspension.
          </p>
        ) : null}
        {children}
        <OrganizationLeft organizations={organizations} />
        <SessionEnded />
        <LiveRejected />
        <ConnectionLost />
      </main>
    </div>
  );
  return <RoleContext value={role}>{frame}</RoleContext>;
}

type SidebarProps = FrameProps & {
  folded: Folded;
  onOrganization: (organizationId: string) => void;
  onPalette: () => void;
  onGo: () => void;
};

function Sidebar({
  organizations,
  role,
  isOperator,
  user,
  mac,
  folded,
  onOrganization,
  onPalette,
  onGo,
}: SidebarProps) {
  const path = usePathname();
  const { label: labelClass, beside, line: foldedLine } = foldedClasses(folded);
  const titleOf = (label: string) => (folded === "never" ? undefined : label);
  return (
    <>
      <div className="flex h-14 items-center px-2 pr-12 md:pr-2">
        <OrganizationMenu folded={folded} onChoose={onOrganization} organizations={organizations} />
      </div>
      <div className="px-2 pb-1">
        <button
          aria-haspopup="dialog"
          aria-keyshortcuts={mac ? "Meta+K" : "Control+K"}
          className="flex h-8 w-full items-center gap-2.5 rounded-md border border-line bg-canvas px-2 text-muted hover:border-input-line hover:text-ink"
          onClick={onPalette}
          onFocus={preloadPalette}
          onPointerEnter={preloadPalette}
          title={titleOf("Search or go to")}
          type="button"
        >
          <SearchIcon className="shrink-0" />
          <span className={clsx("flex-1 text-left", labelClass)}>Search or go to</span>
          <span
            aria-hidden="true"
            className={clsx("pointer-coarse:hidden text-faint text-xs max-md:hidden", beside)}
          >
            {mac ? "⌘K" : "Ctrl K"}
          </span>
        </button>
      </div>
      <nav aria-label="Main" className="flex flex-1 flex-col gap-px overflow-y-auto px-2 py-1">
        {navGroups(role).map(({ title, items }) => (
          <div className="flex flex-col gap-px" key={title ?? ""}>
            {title ? <hr className={clsx("my-2 border-line", foldedLine)} /> : null}
            {title ? <p className={clsx("px-2 pt-3 pb-1 text-muted text-xs", beside)}>{title}</p> : null}
            {items.map(({ href, label, Icon }) => {
              const here = path === href || path.startsWith(`${href}/`);
              return (
                <Link
                  aria-current={here ? "page" : undefined}
                  className={navClass(here)}
                  href={href}
                  key={href}
                  onClick={onGo}
                  title={titleOf(label)}
                >
                  <Icon className={clsx("shrink-0", here && "text-accent")} />
                  <span className={labelClass}>{label}</span>
                </Link>
              );
            })}
          </div>
        ))}
      </nav>
      <div className="flex flex-col gap-px border-line border-t p-2">
        {isOperator ? (
          <Link
            aria-current={path === SYSTEM_ITEM.href ? "page" : undefined}
            className={navClass(path === SYSTEM_ITEM.href)}
            href={SYSTEM_ITEM.href}
            onClick={onGo}
            title={titleOf(SYSTEM_ITEM.label)}
          >
            <SYSTEM_ITEM.Icon className={clsx("shrink-0", path === SYSTEM_ITEM.href && "text-accent")} />
            <span className={clsx("flex-1", labelClass)}>{SYSTEM_ITEM.label}</span>
            <span className={clsx("font-normal text-muted text-xs", beside)}>Operator</span>
          </Link>
        ) : null}
        <Link
          aria-current={path.startsWith("/docs/") ? "page" : undefined}
          className={navClass(path.startsWith("/docs/"))}
          href={guideFor(path)}
          onClick={onGo}
          title={titleOf("Docs")}
        >
          <DocsIcon className="shrink-0" />
          <span className={labelClass}>Docs</span>
        </Link>
        <PersonMenu folded={folded} onGo={onGo} user={user} />
      </div>
    </>
  );
}

function navClass(here: boolean): string {
  return clsx(
    "flex h-8 items-center gap-2.5 rounded-md px-2",
    here ? "bg-pressed font-medium text-ink" : "text-muted hover:bg-hover hover:text-ink",
  );
}

type OrganizationMenuProps = {
  organizations: OrganizationLine[];
  folded: Folded;
  onChoose: (id: string) => void;
};

function OrganizationMenu({ organizations, folded, onChoose }: OrganizationMenuProps) {
  const { label, beside } = foldedClasses(folded);
  const active = organizations.find((each) => each.active);
  return (
    <Menu
      align="start"
      trigger={
        <>
          <StepwellMark className="shrink-0 text-accent" />
          <span className={clsx("min-w-0 flex-1 truncate font-medium", label)}>
            <span className="sr-only">Organization </span>
            {active?.name}
          </span>
          <UpDownIcon className={clsx("shrink-0 text-muted", beside)} />
        </>
      }
      triggerClass="flex h-9 w-full min-w-0 items-center gap-2 rounded-md px-1.5 text-left hover:bg-hover"
    >
      <MenuHeading>Organization</MenuHeading>
      <MenuChoice
        onChange={onChoose}
        options={organizations.map(({ id, name }) => ({ value: id, label: name }))}
        value={active?.id ?? ""}
      />
    </Menu>
  );
}
