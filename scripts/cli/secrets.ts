import { listSecrets, removeSecret, setSecret } from "@/server/catalog/organization/secrets";
import {
  confirm,
  declareOrganizationCommand,
  option,
  readExpiry,
  renderTable,
  splitList,
  YES,
} from "./command";

/** `secrets …`. A value is never on the command line, where other users and the shell's history see it. */
export const secretCommands = [
  declareOrganizationCommand({
    name: "secrets set",
    parameters: ["NAME"],
    summary: "Set a secret's value, read from standard input",
    options: {
      hosts: option("LIST", "the hosts that may receive it, with commas, such as api.github.com"),
      expires: option(
        "WHEN",
        "a time such as 2027-01-31T00:00:00Z, days such as 90d, or never; default: a future expiry stays",
      ),
    },
    async run({ services, terminal, actor }, [name], { hosts, expires }) {
      const expiresAt = readExpiry(expires, services.clock.now());
      const value = await terminal.readSecret(`Value of ${name}: `);
      if (value === "") throw new Error("The value is empty. Give it on standard input.");
      const secret = { name, value, expiresAt, ...(hosts !== undefined && { hosts: splitList(hosts) }) };
      const set = await setSecret(services, actor, { secret });
      const done = set.saved === "created" ? "created" : "set";
      const expiry = set.expiresAt === null ? "never expires" : `expires at ${set.expiresAt}`;
      return `The secret ${name} is ${done}. It may be sent to ${set.hosts.join(", ")}, and ${expiry}.`;
    },
  }),
  declareOrganizationCommand({
    name: "secrets list",
    summary: "List an organization's secrets, without values",
    options: {},
    async run({ services, actor }) {
      return renderTable(await listSecrets(services, actor), {
        NAME: ({ name }) => name,
        STATE: ({ state }) => state,
        HOSTS: ({ hosts, waitingHosts }) =>
          hosts.map((host) => (waitingHosts.includes(host) ? `${host} (waits)` : host)).join(","),
        EXPIRES: ({ expiresAt }) => expiresAt ?? "never",
        "LAST USED": ({ lastUsedAt }) => lastUsedAt ?? "never",
        "CREATED BY": ({ createdBy }) => createdBy,
      });
    },
  }),
  declareOrganizationCommand({
    name: "secrets remove",
    parameters: ["NAME"],
    summary: "Delete a secret; steps that use it fail from then on",
    options: YES,
    async run({ services, terminal, actor }, [name], { yes }) {
      await confirm(terminal, yes, { what: `This deletes the secret ${name} permanently.`, word: name });
      await removeSecret(services, actor, { name });
      return `The secret ${name} is removed.`;
    },
  }),
];
