import { LAST_USED_EVERY_MS, type OrgId } from "@/server/base/actor";
import { recordSecretUse } from "@/server/base/audit";
import type { Secret } from "@/server/base/db/generated/client";
import { deriveId } from "@/server/base/ids";
import type { JsonObject } from "@/server/base/json/json";
import { stringifyLarge } from "@/server/base/json/large";
import type { CarriedSecret } from "@/server/guard/egress/outgoing-request";
import { waitingHostsOf } from "@/server/guard/secrets/allowed-hosts";
import { secretValuePurpose } from "@/server/guard/secrets/encryption";
import { SecretPlaceholders } from "@/server/guard/secrets/placeholders";
import { createRedactor, type Redact, type Redactor } from "@/server/guard/secrets/redact";
import { findSecretNames, secretMark } from "@/server/guard/secrets/references";
import { findModelProviders } from "@/server/runs/find-model-providers";
import type { Services } from "@/server/runs/services";
import { findFunction } from "@/server/work/functions/core/registry";
import { keySecretOf } from "@/server/work/models/own-provider";
import type { ClaimedRun } from "../claimed-run";

type OpenedSecrets = { carried: CarriedSecret[] } | { rejected: string };

type SecretUser = {
  orgId: OrgId;
  names: readonly string[];
  recordUse(secret: Pick<Secret, "id" | "name">, at: Date): Promise<void>;
};

export function secretUserOf({ db }: Services, { id, orgId, configuration }: ClaimedRun): SecretUser {
  const run = { id, name: configuration.name };
  return {
    orgId,
    names: findSecretNames(configuration),
    recordUse: (secret, at) =>
      recordSecretUse(db, orgId, { id: deriveId(id, `secret ${secret.id}`), secret, run, at }),
  };
}

/**
 * The secrets that a run or test call refers to. Values are read for each call and go to the egress client alone.
 * Values that were read are redacted from what the run and its callers store.
 */
export class RunSecrets {
  readonly placeholders = new SecretPlaceholders();
  readonly #services: Services;
  readonly #user: SecretUser;
  readonly #parent: RunSecrets | undefined;
  /** Marks by value. A value that was replaced during the run may still be echoed. */
  readonly #known = new Map<string, string>();
  readonly #recorded = new Set<string>();
  #redactor: Redactor | null = null;
  #isRead = false;

  constructor(services: Services, user: SecretUser, parent?: RunSecrets) {
    this.#services = services;
    this.#user = user;
    this.#parent = parent;
  }

  get orgId(): OrgId {
    return this.#user.orgId;
  }

  /** Values become `[secret NAME]`, placeholders `{{ secrets.NAME }}`. */
  readonly redact: Redact = (text) => {
    return this.placeholders.describe(this.#knownSecrets().redact(text));
  };

  readonly redactLong: Redactor["redactLong"] = async (text) => {
    return this.placeholders.describe(await this.#knownSecrets().redactLong(text));
  };

  #knownSecrets(): Redactor {
    this.#redactor ??= createRedactor([...this.#known].map(([value, mark]) => ({ value, mark })));
    return this.#redactor;
  }

  /** Audits the use, and redacts all secrets of the run from then on. Throws if the database cannot be reached. */
  async open(functionName: string, input: JsonObject): Promise<OpenedSecrets> {
    if ((await this.#allNames()).length === 0) return { carried: [] };
    const used = this.placeholders.namesIn(await stringifyLarge(input));
    if (used.length === 0 && this.#isRead) return { carried: [] };
    const rejected = await this.#checkFields(functionName, input);
    return rejected === null ? this.#carry(used) : { rejected };
  }

  openKey(name: string): Promise<OpenedSecrets> {
    return this.#carry([name]);
  }

  async #allNames(): Promise<string[]> {
    const providers = await findModelProviders(this.#services, this.#user.orgId);
    return [...this.#user.names, ...providers.flatMap((provider) => keySecretOf(provider) ?? [])];
  }

  async #carry(used: readonly string[]): Promise<OpenedSecrets> {
    const { db, clock } = this.#services;
    const found = await db.secret.findMany({
      where: { organizationId: this.#user.orgId, name: { in: await this.#allNames() } },
    });
    this.#isRead = true;
    const values = new Map(found.map((secret) => [secret.name, this.#learn(secret)]));
    const now = clock.now();
    const carried: CarriedSecret[] = [];
    for (const name of used) {
      const secret = found.find((each) => each.name === name);
      const value = values.get(name) ?? null;
      const issue = describeUnusable(name, { secret, value, now });
      if (issue !== null) return { rejected: issue };
      if (secret && value !== null)
        carried.push({
          name,
          value,
          placeholder: this.placeholders.of(name),
          hosts: secret.confirmedHosts,
          waitingHosts: waitingHostsOf(secret),
        });
    }
    await this.#recordUse(
      found.filter(({ name }) => used.includes(name)),
      now,
    );
    return { carried };
  }

  async #checkFields(functionName: string, input: JsonObject): Promise<string | null> {
    const allowed = findFunction(functionName)?.secretFields ?? [];
    for (const [field, value] of Object.entries(input)) {
      const [name] = allowed.includes(field) ? [] : this.placeholders.namesIn(await stringifyLarge(value));
      if (name !== undefined) return `The secret "${name}" cannot be used in "${field}" of ${functionName}.`;
    }
    return null;
  }

  /** Redacts the value from now on; null if there is none or it cannot be read. */
  #learn({ name, sealed }: Pick<Secret, "name" | "sealed">): string | null {
    if (sealed === null) return null;
    const value = this.#services.encryption.openOrNull(sealed, secretValuePurpose(this.#user.orgId, name));
    if (value !== null) this.#remember(value, secretMark(name));
    return value;
  }

  #remember(value: string, mark: string): void {
    if (!this.#known.has(value)) {
      this.#known.set(value, mark);
      this.#redactor = null;
    }
    if (this.#parent !== undefined) this.#parent.#remember(value, mark);
  }

  async #recordUse(secrets: Secret[], at: Date): Promise<void> {
    const { db } = this.#services;
    for (const secret of secrets.filter(({ name }) => !this.#recorded.has(name))) {
      await this.#user.recordUse(secret, at);
      if (at.getTime() - (secret.lastUsedAt?.getTime() ?? 0) > LAST_USED_EVERY_MS) {
        await db.secret.updateMany({ where: { id: secret.id }, data: { lastUsedAt: at } });
      }
      this.#recorded.add(secret.name);
    }
  }
}

/** Includes the way out; null if the secret can be used. */
function describeUnusable(
  name: string,
  { secret, value, now }: { secret: Secret | undefined; value: string | null; now: Date },
): string | null {
  if (secret === undefined) return `The secret "${name}" no longer exists. Set it again, or change the step.`;
  if (secret.sealed === null) return `The secret "${name}" has no value yet. Set its value.`;
  if (secret.expiresAt !== null && secret.expiresAt <= now)
    return `The secret "${name}" expired at ${secret.expiresAt.toISOString()}. Set a new value.`;
  if (value === null)
    return `The secret "${name}" cannot be read: STEPWELL_SECRET has changed. Set its value again.`;
  return null;
}
