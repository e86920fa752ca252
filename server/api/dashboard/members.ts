import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import {
  createInvitation,
  invitationInput,
  listInvitations,
  revokeInvitation,
} from "@/server/catalog/organization/invitations";
import { changeMemberRole, removeMember, roleChange } from "@/server/catalog/organization/members";
import { checkedInput } from "./checked-input";

const admin = memberProcedure("admin");

/** Inviting, changing and removing members. */
export const membersRouter = router({
  invitations: admin.query(({ ctx }) => listInvitations(ctx.services, ctx.actor)),

  invite: admin
    .input(checkedInput(invitationInput))
    .mutation(({ ctx, input }) => createInvitation(ctx.services, ctx.actor, input)),

  revokeInvitation: admin
    .input(z.object({ id: z.uuid() }))
    .mutation(({ ctx, input }) => revokeInvitation(ctx.services, ctx.actor, input)),

  changeRole: admin
    .input(checkedInput(roleChange))
    .mutation(({ ctx, input }) => changeMemberRole(ctx.services, ctx.actor, input)),

  remove: admin
    .input(z.object({ userId: z.uuid() }))
    .mutation(({ ctx, input }) => removeMember(ctx.services, ctx.actor, input)),
});
