import { operatorOf } from "@/server/catalog/organization/organizations";
import { defineCommand, readLimit, renderTable } from "./command";

export const listAuditCommand = defineCommand({
  name: "audit list",
  parameters: "[ORG]",
  summary: "List the newest changes to the installation, or to an organization",
  optionTexts: [["--limit N", "default 20"]],
  options: { limit: { type: "string", default: "20" } },
  async run({ services, terminal }, { values, positionals }) {
    const [slug] = positionals;
    const organizationId = slug === undefined ? null : (await operatorOf(services, slug)).orgId;
    const lines = await services.db.auditEntry.findMany({
      where: { organizationId },
      orderBy: { id: "desc" },
      take: readLimit(values.limit),
    });
    const rows = lines.map((line) => [
      line.createdAt.toISOString(),
      line.actorName,
      line.action,
      line.subjectName,
      line.changes,
    ]);
    terminal.out(renderTable(["TIME", "BY", "ACTION", "SUBJECT", "CHANGES"], rows));
  },
});
