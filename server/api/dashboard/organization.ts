import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { listOwnModels, listServiceModels, unsavedProvider } from "@/server/api/try/offered-models";
import { testProvider } from "@/server/api/try/test-provider";
import { listAudit } from "@/server/base/audit";
import { REPLACES } from "@/server/catalog/change";
import { createApiKey, revokeApiKey } from "@/server/catalog/organization/api-keys";
import { readFirstSteps } from "@/server/catalog/organization/first-steps";
import {
  createInvitation,
  listInvitations,
  revokeInvitation,
} from "@/server/catalog/organization/invitations";
import { listModelProviders, listProviderUsers } from "@/server/catalog/organization/list-model-providers";
import { changeMemberRole, listMembers, removeMember } from "@/server/catalog/organization/members";
import { removeModelProvider, saveModelProvider } from "@/server/catalog/organization/model-providers";
import { describeOwnOrganization, renameOrganization } from "@/server/catalog/organization/own-organization";
import { createMemberPasswordLink } from "@/server/catalog/organization/password-links";
import {
  listViews,
  newView,
  removeView,
  renameView,
  saveView,
  viewName,
} from "@/server/catalog/organization/saved-views";
import {
  changeSecretRules,
  listSecrets,
  listSecretUsers,
  removeSecret,
  setSecret,
} from "@/server/catalog/organization/secrets";
import { AUDIT_SUBJECTS, CREDIT_ENTRY_KINDS } from "@/server/contract/enums";
import { idInput } from "@/server/contract/ids";
import { listLedger, readBalance } from "@/server/credits/read-ledger";
import { SECRET_NAME } from "@/server/guard/secrets/references";
import { sumCachedTokens } from "@/server/runs/read/cached-tokens";
import { readRunsById } from "@/server/runs/read/list";
import { checkedInput, mutation, pageInput, resolver } from "./procedures";

const viewer = memberProcedure("viewer");
const admin = memberProcedure("admin");

export const organizationRouter = router({
  inspect: viewer.query(resolver(describeOwnOrganization)),
  firstSteps: viewer.query(resolver(readFirstSteps)),
  rename: mutation(renameOrganization),
  members: viewer.query(resolver(listMembers)),
  audit: admin
    .input(z.object({ subject: z.enum(AUDIT_SUBJECTS).optional(), ...pageInput(idInput()) }))
    .query(resolver(listAudit)),
});

export const keysRouter = router({ create: mutation(createApiKey), revoke: mutation(revokeApiKey) });

export const membersRouter = router({
  invitations: admin.query(resolver(listInvitations)),
  invite: mutation(createInvitation),
  revokeInvitation: mutation(revokeInvitation),
  changeRole: mutation(changeMemberRole),
  createPasswordLink: mutation(createMemberPasswordLink),
  remove: mutation(removeMember),
});

export const viewsRouter = router({
  list: viewer.query(resolver(listViews)),
  save: viewer.input(checkedInput(newView)).mutation(resolver(saveView)),
  rename: viewer.input(checkedInput(viewName)).mutation(resolver(renameView)),
  remove: viewer.input(z.object({ id: idInput() })).mutation(resolver(removeView)),
});

const named = z.object({ name: z.string().max(64) });

export const modelsRouter = router({
  list: viewer.query(resolver(listModelProviders)),
  users: viewer.input(named).query(resolver(listProviderUsers)),
  save: mutation(saveModelProvider),
  test: memberProcedure("admin", { waitsOutside: true })
    .input(named.extend({ model: z.string().max(200) }))
    .mutation(resolver(testProvider)),
  offered: memberProcedure("member", { waitsOutside: true }).query(({ ctx }) =>
    listServiceModels(ctx.services),
  ),
  /** The provider may be unsaved. Sends its key. */
  discover: memberProcedure("admin", { waitsOutside: true })
    .input(unsavedProvider)
    .mutation(resolver(listOwnModels)),
  remove: mutation(removeModelProvider),
});

// `setSecret` checks it and names its issues.
const newValue = z.object({
  name: z.string(),
  value: z.string(),
  hosts: z.array(z.string()).optional(),
  expiresAt: z.string().nullish(),
});

/** The organization's secrets. No procedure returns a value. */
export const secretsRouter = router({
  list: viewer.query(resolver(listSecrets)),
  users: viewer.input(z.object({ name: z.string().regex(SECRET_NAME) })).query(resolver(listSecretUsers)),
  create: admin
    .input(newValue)
    .mutation(({ ctx, input }) => setSecret(ctx.services, ctx.actor, { secret: input, only: "create" })),
  replace: admin
    .input(newValue.extend(REPLACES))
    .mutation(({ ctx, input: { replaces, ...secret } }) =>
      setSecret(ctx.services, ctx.actor, { secret, only: "update", replaces }),
    ),
  changeRules: mutation(changeSecretRules),
  remove: mutation(removeSecret),
});

export const creditsRouter = router({
  balance: viewer.query(resolver(readBalance)),
  ledger: viewer
    .input(
      z.object({
        kind: z.enum(CREDIT_ENTRY_KINDS).optional(),
        holds: z.boolean().default(false),
        ...pageInput(z.int().min(1)),
      }),
    )
    .query(async ({ ctx: { services, actor }, input }) => {
      const page = await listLedger(services, actor, input);
      const runIds = [...new Set(page.items.flatMap(({ runId }) => runId ?? []))];
      const [runs, cached] = await Promise.all([
        readRunsById(services, actor.orgId, runIds),
        sumCachedTokens(services, actor.orgId, runIds),
      ]);
      return { ...page, runs, cached };
    }),
});
