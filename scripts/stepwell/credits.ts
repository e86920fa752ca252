import { grantToOrganization, operatorOf } from "@/server/catalog/organization/organizations";
import { refundRun } from "@/server/credits/refund";
import { argument, defineCommand, UsageError } from "./command";

export const grantCommand = defineCommand({
  name: "credits grant",
  parameters: "ORG AMOUNT",
  summary: "Grant credits to an organization",
  optionTexts: [["--note TEXT", "the reason, for the ledger"]],
  options: { note: { type: "string", default: "" } },
  async run({ services, terminal }, { values, positionals }) {
    const slug = argument(positionals, 0);
    const amount = argument(positionals, 1);
    const actor = await operatorOf(services, slug);
    const balance = await grantToOrganization(services, actor, { amount, note: values.note });
    terminal.out(`Granted ${amount} credits to ${slug}. Balance: ${balance.toFixed()}.`);
  },
});

export const refundCommand = defineCommand({
  name: "credits refund",
  parameters: "ORG RUN",
  summary: "Refund what an ended run was charged, once",
  optionTexts: [["--note TEXT", "the reason, for the ledger; required"]],
  options: { note: { type: "string" } },
  async run({ services, terminal }, { values, positionals }) {
    const slug = argument(positionals, 0);
    const runId = argument(positionals, 1);
    if (!values.note) throw new UsageError("--note is required: give the reason.");
    const actor = await operatorOf(services, slug);
    const { refunded, balance } = await refundRun(services, actor, { runId, note: values.note });
    terminal.out(`Refunded ${refunded.toFixed()} credits to ${slug}. Balance: ${balance.toFixed()}.`);
  },
});

export const balanceCommand = defineCommand({
  name: "credits show",
  parameters: "ORG",
  summary: "Print an organization's balance",
  options: {},
  async run({ services, terminal }, { positionals }) {
    const actor = await operatorOf(services, argument(positionals, 0));
    const { balance } = await services.db.organization.findUniqueOrThrow({ where: { id: actor.orgId } });
    terminal.out(balance.toFixed());
  },
});
