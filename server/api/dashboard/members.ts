import { z } from "zod";
import { memberProcedure, router } from "@/server/api/trpc";
import { addMember, changeMemberRole, newMember, removeMember, roleChange } from "@/server/catalog/members";
import { checkedInput } from "./checked-input";

const admin = memberProcedure("admin");

/** Adding, changing and removing members. */
export const membersRouter = router({
  add: admin
    .input(checkedInput(newMember))
    .mutation(({ ctx, input }) => addMember(ctx.services, ctx.actor, input)),

  changeRole: admin
    .input(checkedInput(roleChange))
    .mutation(({ ctx, input }) => changeMemberRole(ctx.services, ctx.actor, input)),

  remove: admin
    .input(z.object({ userId: z.uuid() }))
    .mutation(({ ctx, input }) => removeMember(ctx.services, ctx.actor, input)),
});
