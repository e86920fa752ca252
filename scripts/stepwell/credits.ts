import { grantToOrganization, operatorOf } from "@/server/catalog/organizations";
import { argument, defineCommand } from "./command";

/** `credits grant ORG AMOUNT`. */
export const grantCommand = defineCommand({
  name: "credits grant",
  parameters: "ORG AMOUNT",
  summary: "Give an organization credits",
  optionTexts: [["--note TEXT", "why; kept in the ledger"]],
  options: { note: { type: "string", default: "" } },
  async run({ services, terminal }, { values, positionals }) {
    const slug = argument(positionals, 0);
    const amount = argument(positionals, 1);
    const actor = await operatorOf(services, slug);
    const balance = await grantToOrganization(services, actor, { amount, note: values.note });
    terminal.out(`${slug} was given ${amount} credits; its balance is ${balance.toFixed()}.`);
    return true;
  },
});

/** `credits show ORG`. */
export const balanceCommand = defineCommand({
  name: "credits show",
  parameters: "ORG",
  summary: "Print an organization's balance",
  optionTexts: [],
  options: {},
  async run({ services, terminal }, { positionals }) {
    const actor = await operatorOf(services, argument(positionals, 0));
    const { balance } = await services.db.organization.findUniqueOrThrow({ where: { id: actor.orgId } });
    terminal.out(balance.toFixed());
    return true;
  },
});
