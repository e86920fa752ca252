"use client";

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { shortId } from "@/app/_ui/figures/format";
import { StatusShape } from "@/app/_ui/figures/status";
import {
  AgentIcon,
  ChevronRightIcon,
  DocsIcon,
  MoonIcon,
  RunsIcon,
  SignOutIcon,
  StepwellMark,
  SunIcon,
  SystemThemeIcon,
  ToolIcon,
  TriggerIcon,
} from "@/app/_ui/icons";
import { type PageAction, useOfferedActions } from "@/app/_ui/page/page-actions";
import { type Findable, findItems, type Group, idIn } from "@/app/_ui/rank";
import { signOut } from "@/app/_ui/sign-out";
import { useRested } from "@/app/_ui/use-rested";
import type { MemberRole } from "@/server/base/actor";
import type { OrganizationLine } from "@/server/catalog/auth/own-account";
import type { RunSummary } from "@/server/runs/read/list";
import { GUIDES } from "../docs/guides";
import { ACCOUNT_ITEM, navGroups, SYSTEM_ITEM } from "../nav";
import { Started } from "../runs/started";
import type { Theme } from "../theme";

/** One entry of the palette. `take` opens or performs it; with `newTab`, pages open in a new tab. */
export type PaletteItem = Findable & {
  id: string;
  icon: ReactNode;
  hint?: ReactNode;
  take: (newTab: boolean) => void;
};

export type PaletteProps = {
  role: MemberRole;
  isOperator: boolean;
  /** The organizations to switch to. */
  others: OrganizationLine[];
  onTheme: (theme: Theme) => void;
  onOrganization: (organizationId: string) => void;
};

const KIND_ICONS = { agent: AgentIcon, tool: ToolIcon, trigger: TriggerIcon };
const RECENT_RUNS = 6;
/** Shorter texts would match most runs. */
const SEARCHED_LENGTH = 2;

/** `pending`: no answer for this text yet. `failed`: part of the search failed. */
type Found = { groups: Group<PaletteItem>[]; pending: boolean; failed: boolean };

/** The entries that match the text: local ones immediately, runs when the server has found them. */
export function useFound(props: PaletteProps, text: string): Found {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const go = useGo();
  const actions = useOfferedActions();
  const id = idIn(text);
  const typed = id ?? text.trim();
  const wanted = typed.length >= SEARCHED_LENGTH ? typed : "";
  const searched = useRested(wanted, 200);
  const directory = useQuery(trpc.catalog.directory.queryOptions());
  const runs = useQuery({
    ...trpc.runs.list.queryOptions({
      filter: searched === "" ? {} : { text: searched },
      limit: RECENT_RUNS,
    }),
    staleTime: 0,
    placeholderData: keepPreviousData,
  });

  const pages = [
    ...navGroups(props.role).flatMap(({ items }) => items),
    ACCOUNT_ITEM,
    ...(props.isOperator ? [SYSTEM_ITEM] : []),
  ].map(({ href, label, Icon }) => go(href, { label, icon: <Icon /> }));
  const named = (directory.data ?? []).map(({ kind, id, slug, name }) => {
    const Icon = KIND_ICONS[kind];
    const keywords = `${kind} ${slug} ${id}`;
    return go(`/${kind}s/${id}`, { label: name, keywords, icon: <Icon />, hint: kind });
  });
  const guides = GUIDES.map(({ name, title }) =>
    go(`/docs/${name}`, {
      label: title,
      keywords: `docs guide ${name}`,
      icon: <DocsIcon />,
      hint: "docs",
    }),
  );
  const found = findItems(
    [
      { name: "This page", items: actions.map((action, index) => actionItem(action, index, go)) },
      { name: "Go to", items: pages },
      ...(typed === ""
        ? []
        : [
            { name: "Agents, tools and triggers", items: named },
            { name: "Docs", items: guides },
            { name: "Everywhere", items: everywhereItems(props) },
          ]),
    ],
    typed,
  );
  const listed = (runs.data?.items ?? []).map((run) => runItem(run, go));
  // Until the server has searched for this exact text, only matches of the text itself are shown: `enter` must not open
  // another run.
  const fresh = searched === wanted && !runs.isPlaceholderData;
  const runItems =
    fresh && wanted === typed
      ? listed
      : findItems([{ name: "", items: listed }], typed).flatMap(({ items }) => items);
  const pending = directory.isPending || runs.isPending || !fresh;
  // A pasted id can be opened before the server has found its kind: most are runs.
  if (id !== null && runItems.length === 0 && found.length === 0 && pending) {
    const item = { label: shortId(id), icon: <RunsIcon /> };
    const take = async (newTab: boolean) => {
      const entries = await queryClient
        .ensureQueryData(trpc.catalog.directory.queryOptions())
        .catch(() => []);
      const kind = entries.find((entry) => entry.id === id)?.kind ?? "run";
      go(`/${kind}s/${id}`, item).take(newTab);
    };
    runItems.push({ id, ...item, take: (newTab) => void take(newTab) });
  }
  const ofRuns = { name: typed === "" ? "Recent runs" : "Runs", items: runItems };
  const groups = id === null ? [...found, ofRuns] : [ofRuns, ...found];
  return {
    groups: groups.filter(({ items }) => items.length > 0),
    pending,
    failed: directory.isError || runs.isError,
  };
}

type Go = (href: string, item: Omit<PaletteItem, "id" | "take">) => PaletteItem;

function useGo(): Go {
  const router = useRouter();
  return (href, item) => ({
    id: href,
    ...item,
    take: (newTab) => {
      if (newTab) window.open(href, "_blank", "noopener");
      else router.push(href);
    },
  });
}

function actionItem(action: PageAction, index: number, go: Go): PaletteItem {
  const id = `action-${index}`;
  const item = { label: action.label, icon: action.icon ?? <ChevronRightIcon /> };
  if ("run" in action) return { id, ...item, take: action.run };
  if (action.download) return { id, ...item, take: () => download(action.href) };
  return { ...go(action.href, item), id };
}

const THEMES = [
  { theme: "light", label: "Light theme", icon: <SunIcon /> },
  { theme: "dark", label: "Dark theme", icon: <MoonIcon /> },
  { theme: "system", label: "System theme", icon: <SystemThemeIcon /> },
] as const;

function everywhereItems({ others, onTheme, onOrganization }: PaletteProps): PaletteItem[] {
  return [
    ...others.map(({ id, name, slug }) => ({
      id,
      label: `Switch to ${name}`,
      keywords: `organization ${slug}`,
      icon: <StepwellMark />,
      take: () => onOrganization(id),
    })),
    ...THEMES.map(({ theme, label, icon }) => ({
      id: theme,
      label,
      keywords: "appearance",
      icon,
      take: () => onTheme(theme),
    })),
    {
      id: "sign-out",
      label: "Sign out",
      keywords: "log out",
      icon: <SignOutIcon />,
      take: () => void signOut(),
    },
  ];
}

function runItem(run: RunSummary, go: Go): PaletteItem {
  const summary = (run.errorPreview ?? run.inputPreview).replace(/\s+/g, " ").slice(0, 80);
  return go(`/runs/${run.id}`, {
    label: run.targetName,
    keywords: `${run.kind} ${run.status} ${run.id} ${summary}`,
    icon: <StatusShape status={run.status} />,
    hint: (
      <>
        <span className="sr-only">{run.status}, </span>
        <span className="min-w-0 flex-1 truncate">{summary}</span>
        <span className="shrink-0">
          <Started run={run} />
        </span>
      </>
    ),
  });
}

function download(href: string): void {
  const link = document.createElement("a");
  link.href = href;
  link.download = "";
  link.click();
}
