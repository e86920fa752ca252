import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { StartError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { callbackSecretPurpose } from "@/server/catalog/callbacks/callback-secrets";
import { setSecret } from "@/server/catalog/organization/secrets";
import { signingSecretPurpose, tokenPurpose } from "@/server/catalog/webhooks/trigger";
import { createEncryption, secretValuePurpose } from "@/server/guard/secrets/encryption";
import { checkSecretFingerprint } from "@/server/guard/secrets/fingerprint";
import { rotateSecret, SEALED_COLUMNS } from "@/server/operate/rotate-secret";
import { createTenant, createTrigger, openWorld } from "@/testing/world";

const NEW = "a new secret of at least thirty-two characters";

const world = await openWorld();
await checkSecretFingerprint(world);

test("both secrets work before a rotation, only the new one after it", async () => {
  const tenant = await createTenant(world);
  const { id, token } = await createTrigger(world, tenant, { secrets: ["s3cret"] });
  const operator = { kind: "operator", orgId: tenant.orgId, name: "operator" } as const;
  await setSecret(world, operator, {
    secret: { name: "api", value: "a value of an API", hosts: ["api.test"] },
  });
  await world.db.secret.create({
    data: {
      id: newId(),
      organizationId: tenant.orgId,
      name: "declared",
      allowedHosts: ["api.test"],
      createdBy: "operator",
      createdAt: world.clock.now(),
      updatedAt: world.clock.now(),
    },
  });
  const endpointId = newId();
  const times = { createdAt: world.clock.now(), updatedAt: world.clock.now() };
  const endpoint = { name: "ERP", slug: "erp", url: "https://erp.test", events: ["run.failed"], ...times };
  const sealedSecret = world.encryption.seal("whsec_AAAA", callbackSecretPurpose(endpointId));
  await world.db.callbackEndpoint.create({
    data: {
      id: endpointId,
      organizationId: tenant.orgId,
      ...endpoint,
      secrets: { create: { id: newId(), sealed: sealedSecret, createdAt: times.createdAt } },
    },
  });
  const rotating = { ...world, encryption: createEncryption(NEW, world.env.secret) };
  const rotated = { ...world, encryption: createEncryption(NEW) };
  await checkSecretFingerprint(rotating);
  await expect(checkSecretFingerprint(rotated)).rejects.toThrow(StartError);
  // Saved by a process that already has both secrets.
  const early = await createTrigger({ ...world, encryption: rotating.encryption }, tenant, {
    secrets: ["early"],
  });

  expect(await rotateSecret(rotating)).toEqual({ resealed: 4, unreadable: 0 });
  await checkSecretFingerprint(rotated);
  await expect(checkSecretFingerprint(world)).rejects.toThrow(StartError);
  const open = async (triggerId: string) => {
    const found = await world.db.trigger.findUniqueOrThrow({
      where: { id: triggerId },
      include: { secrets: true },
    });
    return [
      rotated.encryption.open(found.tokenSealed, tokenPurpose(triggerId)),
      ...found.secrets.map(({ sealed }) => rotated.encryption.open(sealed, signingSecretPurpose(triggerId))),
    ];
  };
  expect(await open(id)).toEqual([token, "s3cret"]);
  expect(await open(early.id)).toEqual([early.token, "early"]);
  const api = await world.db.secret.findFirstOrThrow({ where: { name: "api" } });
  const purpose = secretValuePurpose(tenant.orgId, "api");
  expect(rotated.encryption.open(api.sealed ?? "", purpose)).toBe("a value of an API");

  const { sealed } = await world.db.callbackSecret.findFirstOrThrow({ where: { endpointId } });
  expect(rotated.encryption.open(sealed, callbackSecretPurpose(endpointId))).toBe("whsec_AAAA");

  expect(await rotateSecret(rotating), "repeating it changes nothing").toEqual({
    resealed: 0,
    unreadable: 0,
  });
  const [line] = await world.db.auditEntry.findMany({ where: { action: "secret.rotated" } });
  expect(line).toMatchObject({ organizationId: null, actor: "operator", subjectName: "STEPWELL_SECRET" });
  expect(line?.changes).toContain(world.encryption.fingerprint);
});

test("rows that are under the new secret already are skipped in pages", async () => {
  const { id } = await createTrigger(world, await createTenant(world));
  const rotating = { ...world, encryption: createEncryption(NEW, world.env.secret) };
  await rotateSecret(rotating);
  await world.db.triggerSecret.createMany({
    data: Array.from({ length: 5_200 }, (_, n) => {
      const { encryption } = n === 5_199 || n === 4_999 ? world : rotating;
      const sealed = encryption.seal("s3cret", signingSecretPurpose(id));
      return { id: newId(), triggerId: id, sealed, createdAt: world.clock.now() };
    }),
  });
  expect(await rotateSecret(rotating)).toEqual({ resealed: 2, unreadable: 0 });
});

test("values that neither secret opens stay and are counted", async () => {
  const lost = { ...world, encryption: createEncryption("a secret that is lost, of thirty-two characters") };
  await createTrigger(lost, await createTenant(world));
  const rotating = { ...world, encryption: createEncryption(NEW, world.env.secret) };
  expect(await rotateSecret(rotating)).toEqual({ resealed: 0, unreadable: 1 });
});

test("every sealed column of the schema is rotated", () => {
  const schema = readFileSync("prisma/schema.prisma", "utf8");
  const tables = schema.split(/^model /m).slice(1);
  const sealed = tables.flatMap((model) => {
    const table = /@@map\("(\w+)"\)/.exec(model)?.[1];
    const fields = [...model.matchAll(/^ +(\w*[sS]ealed\w*) +\w+\??(?:.*@map\("(\w+)"\))?/gm)];
    return fields.map(([, field, column]) => `${table}.${column ?? field}`);
  });
  expect(sealed.sort()).toEqual(SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).sort());
});
