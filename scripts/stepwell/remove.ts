import { removeDefinition } from "@/server/catalog/archive";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { argument, defineCommand, UsageError } from "./command";

const KINDS = ["agent", "tool", "trigger"] as const;

export const removeCommand = defineCommand({
  name: "remove",
  parameters: "ORG KIND SLUG",
  summary: "Remove an agent, tool or trigger; its runs stay",
  optionTexts: [["KIND", KINDS.join(", ")]],
  options: {},
  async run({ services, terminal }, { positionals }) {
    const kind = KINDS.find((known) => known === argument(positionals, 1));
    if (kind === undefined) throw new UsageError(`"${positionals[1]}" is not one of ${KINDS.join(", ")}.`);
    const actor = await operatorOf(services, argument(positionals, 0));
    const slug = argument(positionals, 2);
    await removeDefinition(services, actor, { kind, slug });
    terminal.out(`The ${kind} ${slug} is removed.`);
  },
});
