import { CALL } from "@/server/base/settings/program";
import { listOperators, setOperator } from "@/server/catalog/organization/operators";
import { declareCommand, renderTable } from "./command";

export const operatorCommands = [
  declareCommand({
    name: "operators list",
    summary: "List the people who see the page System",
    options: {},
    async run({ services }) {
      return renderTable(await listOperators(services), {
        EMAIL: ({ email }) => email,
        NAME: ({ name }) => name,
        SINCE: ({ since }) => since,
      });
    },
  }),
  declareCommand({
    name: "operators add",
    parameters: ["EMAIL"],
    summary: "Let a person see the page System, over all organizations",
    options: {},
    async run({ services }, [given]) {
      const email = given.toLowerCase();
      const added = await setOperator(services, { email, isOperator: true });
      const members = await services.db.member.count({ where: { user: { email } } });
      const advice =
        members > 0 ? "" : `\nPages need a membership: ${CALL} users create ${email} --org ORG --role viewer`;
      return `${email} is ${added ? "now" : "already"} an operator.${advice}`;
    },
  }),
  declareCommand({
    name: "operators remove",
    parameters: ["EMAIL"],
    summary: "Hide the page System from a person; the account stays",
    options: {},
    async run({ services }, [given]) {
      const email = given.toLowerCase();
      return (await setOperator(services, { email, isOperator: false }))
        ? `${email} is no longer an operator.`
        : `${email} was not an operator.`;
    },
  }),
];
