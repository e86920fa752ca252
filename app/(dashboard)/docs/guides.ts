/** The guides of the folder docs that the dashboard shows, in reading order. */
export const GUIDES = [
  { name: "first-agent", title: "Your first agent" },
  { name: "dashboard", title: "The dashboard" },
  { name: "definition-files", title: "Agents and tools in files" },
  { name: "functions", title: "Functions" },
  { name: "webhooks", title: "Webhooks" },
  { name: "senders", title: "Senders" },
  { name: "callbacks", title: "Callbacks" },
  { name: "schedules", title: "Schedules" },
  { name: "secrets", title: "Secrets" },
  { name: "api", title: "The API" },
  { name: "lists", title: "Lists and management" },
  { name: "fork", title: "Fork a run" },
  { name: "clients", title: "Clients" },
  { name: "mcp", title: "MCP" },
  { name: "operating", title: "Operating Stepwell" },
  { name: "glossary", title: "Glossary" },
] as const;
type GuideName = (typeof GUIDES)[number]["name"];

const HELP: readonly (readonly [path: string, guide: GuideName])[] = [
  ["/agents", "first-agent"],
  ["/tools", "definition-files"],
  ["/triggers", "webhooks"],
  ["/callbacks", "callbacks"],
  ["/schedules", "schedules"],
  ["/secrets", "secrets"],
  ["/system", "operating"],
  ["/keys", "api"],
  ["/api-reference", "api"],
];

export function guideFor(path: string): string {
  const guide = HELP.find(([start]) => path === start || path.startsWith(`${start}/`))?.[1];
  return `/docs/${guide ?? "dashboard"}`;
}

/** The target of a link in a guide: another guide, a heading or a site; null if the dashboard does not show it. */
export function resolveLink(href: string): string | null {
  if (/^(https?:\/\/|#)/.test(href)) return href;
  const [, name, anchor = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  return GUIDES.some((guide) => guide.name === name) ? `/docs/${name}${anchor}` : null;
}

/** The id of a heading, as links to it in Markdown files name it. */
export function headingId(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
}
