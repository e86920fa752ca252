import { operatorOf } from "@/server/catalog/organization/organizations";
import { listSecrets, removeSecret, setSecret } from "@/server/catalog/organization/secrets";
import {
  argument,
  CONFIRM_OPTIONS,
  CONFIRM_TEXTS,
  CommandError,
  confirm,
  defineCommand,
  readExpiry,
  renderTable,
  splitList,
} from "./command";

/** `secrets set ORG NAME`. The value is never on the command line, where other users and the shell's history see it. */
export const setSecretCommand = defineCommand({
  name: "secrets set",
  parameters: "ORG NAME",
  summary: "Set a secret's value, read from standard input",
  optionTexts: [
    ["--hosts LIST", "the hosts that may receive it, with commas, such as api.github.com"],
    ["--expires WHEN", "a time such as 2027-01-31T00:00:00Z, or days such as 90d; default never"],
  ],
  options: { hosts: { type: "string" }, expires: { type: "string" } },
  async run({ services, terminal }, { values, positionals }) {
    const actor = await operatorOf(services, argument(positionals, 0));
    const name = argument(positionals, 1);
    const expiresAt = readExpiry(values.expires, services.clock.now());
    const value = await terminal.readSecret(`Value of ${name}: `);
    if (value === "") throw new CommandError("The value is empty. Give it on standard input.");
    const { saved } = await setSecret(services, actor, {
      secret: {
        name,
        value,
        expiresAt,
        ...(values.hosts !== undefined && { hosts: splitList(values.hosts) }),
      },
    });
    terminal.out(`The secret ${name} is ${saved === "created" ? "created" : "set"}.`);
  },
});

/** `secrets list ORG`. */
export const listSecretsCommand = defineCommand({
  name: "secrets list",
  parameters: "ORG",
  summary: "List an organization's secrets, without values",
  options: {},
  async run({ services, terminal }, { positionals }) {
    const actor = await operatorOf(services, argument(positionals, 0));
    const rows = (await listSecrets(services, actor)).map((secret) => [
      secret.name,
      secret.state,
      secret.hosts.join(","),
      secret.expiresAt ?? "never",
      secret.lastUsedAt ?? "never",
      secret.createdBy,
    ]);
    terminal.out(renderTable(["NAME", "STATE", "HOSTS", "EXPIRES", "LAST USED", "CREATED BY"], rows));
  },
});

/** `secrets remove ORG NAME`. */
export const removeSecretCommand = defineCommand({
  name: "secrets remove",
  parameters: "ORG NAME",
  summary: "Delete a secret; steps that use it fail from then on",
  optionTexts: CONFIRM_TEXTS,
  options: CONFIRM_OPTIONS,
  async run({ services, terminal }, { values, positionals }) {
    const actor = await operatorOf(services, argument(positionals, 0));
    const name = argument(positionals, 1);
    await confirm(terminal, values.yes, { what: `This deletes the secret ${name} for good.`, word: name });
    await removeSecret(services, actor, { name });
    terminal.out(`The secret ${name} is removed.`);
  },
});
