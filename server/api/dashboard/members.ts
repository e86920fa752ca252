import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import {
  createInvitation,
  invitationInput,
  listInvitations,
  revokeInvitation,
} from "@/server/catalog/organization/invitations";
import { changeMemberRole, removeMember, roleChange } from "@/server/catalog/organization/members";
import { call, checkedInput } from "./procedures";

const admin = memberProcedure("admin");

/** Inviting, changing and removing members. */
export const membersRouter = router({
  invitations: admin.query(call(listInvitations)),

  invite: admin.input(checkedInput(invitationInput)).mutation(call(createInvitation)),

  revokeInvitation: admin.input(z.object({ id: z.uuid() })).mutation(call(revokeInvitation)),

  changeRole: admin.input(checkedInput(roleChange)).mutation(call(changeMemberRole)),

  remove: admin.input(z.object({ userId: z.uuid() })).mutation(call(removeMember)),
});
