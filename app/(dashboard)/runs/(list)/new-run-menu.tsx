import { useQuery } from "@tanstack/react-query";
import { buttonClass } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { AgentIcon, PlusIcon, ToolIcon } from "@/app/_ui/icons";
import { Menu, MenuHeading, MenuLink } from "@/app/_ui/menu/menu";
import { useMay } from "@/app/_ui/role";

const GROUPS = [
  { kind: "agent", heading: "Agents", pages: "/agents", Icon: AgentIcon },
  { kind: "tool", heading: "Tools", pages: "/tools", Icon: ToolIcon },
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

/** Mounted, and so read, when the menu is opened. */
function Targets() {
  const trpc = useTRPC();
  const { data, isError } = useQuery(trpc.catalog.directory.queryOptions());
  if (data === undefined)
    return <MenuHeading>{isError ? "The agents and tools could not be read" : "Loading"}</MenuHeading>;
  const groups = GROUPS.map((group) => ({
    ...group,
    targets: data.filter(({ kind }) => kind === group.kind),
  })).filter(({ targets }) => targets.length > 0);
  if (groups.length === 0) return <MenuLink href="/agents/new">Create an agent first</MenuLink>;
  return groups.map(({ kind, heading, pages, Icon, targets }) => (
    <div key={kind}>
      <MenuHeading>{heading}</MenuHeading>
      {targets.map(({ id, name }) => (
        <MenuLink href={`${pages}/${id}`} key={id}>
          <Icon className="shrink-0 text-muted" />
          <span className="truncate">{name}</span>
        </MenuLink>
      ))}
    </div>
  ));
}
