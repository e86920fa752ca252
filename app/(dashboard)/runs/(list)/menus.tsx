import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { buttonClass } from "@/app/_ui/button";
import { useOrganizationAddress } from "@/app/_ui/data/page-organization";
import { useTRPC } from "@/app/_ui/data/providers";
import { AgentIcon, CloseIcon, DownloadIcon, PlusIcon, ToolIcon } from "@/app/_ui/icons";
import { lazy } from "@/app/_ui/lazy";
import { Menu, MenuHeading, MenuLink } from "@/app/_ui/menu/menu";
import { ActionMenu } from "@/app/_ui/page/page-actions";
import { useMay } from "@/app/_ui/role";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { writeFilter } from "../address";

const CancelAllDialog = lazy(() => import("./cancel-all-dialog"), "CancelAllDialog");

export function ListMenu({ filter }: { filter: RunFilter }) {
  const [asking, setAsking] = useState(false);
  const mayCancel = useMay("member");
  const addressOf = useOrganizationAddress();
  const exports = (["csv", "json"] as const).map((format) => {
    const query = writeFilter(filter);
    const name = format.toUpperCase();
    return {
      label: `Export these runs as ${name}`,
      short: `Export as ${name}`,
      icon: <DownloadIcon />,
      href: addressOf(`/api/runs/export${query === "" ? "?" : `${query}&`}format=${format}`),
      download: true,
    };
  });
  const cancel = {
    label: "Cancel all open runs",
    icon: <CloseIcon />,
    danger: true,
    run: () => setAsking(true),
  };
  return (
    <>
      <ActionMenu actions={mayCancel ? [...exports, cancel] : exports} label="Export and more" />
      {asking ? <CancelAllDialog filter={filter} onClose={() => setAsking(false)} /> : null}
    </>
  );
}

const GROUPS = [
  { kind: "agent", heading: "Agents", Icon: AgentIcon },
  { kind: "tool", heading: "Tools", Icon: ToolIcon },
] as const;

/** Leads to an agent or tool: its page has the form that starts a run. */
export function NewRunMenu() {
  if (!useMay("member")) return null;
  return (
    <Menu
      trigger={
        <>
          <PlusIcon />
          New run
        </>
      }
      triggerClass={buttonClass("primary")}
    >
      <Targets />
    </Menu>
  );
}

function Targets() {
  const trpc = useTRPC();
  const { data, isError } = useQuery(trpc.catalog.directory.queryOptions());
  if (data === undefined)
    return <MenuHeading>{isError ? "Could not load agents and tools" : "Loading"}</MenuHeading>;
  const groups = GROUPS.map((group) => ({
    ...group,
    targets: data.filter(({ kind }) => kind === group.kind),
  })).filter(({ targets }) => targets.length > 0);
  if (groups.length === 0) return <MenuLink href="/agents/new">Create an agent first</MenuLink>;
  return groups.map(({ kind, heading, Icon, targets }) => (
    <div key={kind}>
      <MenuHeading>{heading}</MenuHeading>
      {targets.map(({ id, name }) => (
        <MenuLink href={`/${kind}s/${id}`} key={id}>
          <Icon className="shrink-0 text-muted" />
          <span className="truncate">{name}</span>
        </MenuLink>
      ))}
    </div>
  ));
}
