/** The part of the operator's guide that helps with a finding of `doctor`. */
const PARTS: Record<string, { title: string; anchor: string }> = {
  Node: { title: "Production", anchor: "before-you-go-to-production" },
  database: { title: "Production", anchor: "before-you-go-to-production" },
  migrations: { title: "Upgrade", anchor: "upgrade" },
  secret: { title: "Secret", anchor: "data-folder-and-secret" },
  access: { title: "First organization", anchor: "first-organization" },
  runs: { title: "What to watch", anchor: "what-to-watch" },
  backups: { title: "Backup", anchor: "back-up-and-restore" },
  disk: { title: "Data folder", anchor: "data-folder-and-secret" },
  clock: { title: "Processes", anchor: "run-several-processes" },
  settings: { title: "Processes", anchor: "run-several-processes" },
  engine: { title: "Processes", anchor: "run-several-processes" },
  models: { title: "Configuration", anchor: "configuration" },
  address: { title: "Reverse proxy", anchor: "reverse-proxy" },
  egress: { title: "Security", anchor: "security" },
  names: { title: "Configuration", anchor: "configuration" },
};

export const GUIDED_CHECKS = Object.keys(PARTS);

export function guideOf(check: string): { title: string; href: string } | null {
  const part = PARTS[check];
  return part === undefined ? null : { title: part.title, href: `/docs/operating#${part.anchor}` };
}
