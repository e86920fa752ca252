import { z } from "zod";
import { memberProcedure } from "@/server/api/trpc";
import type { MemberActor, MemberRole } from "@/server/base/actor";
import { parseInput } from "@/server/base/issues";
import type { StartConditions } from "@/server/runs/start-item";
import type { Services } from "@/server/services";

/** A procedure's input parser that rejects with every issue and its path, so that a form can show them at its fields. */
export function checkedInput<Schema extends z.ZodType>(schema: Schema): (input: unknown) => z.output<Schema> {
  return (input) => parseInput(schema, input);
}

/** The input of a list's page, which begins after `cursor`, towards older lines. */
export function pageInput<Cursor extends z.ZodType>(cursor: Cursor) {
  return { cursor: cursor.nullish(), limit: z.int().min(1).max(200).default(50) };
}

export function resolver<Input, Output>(
  run: (services: Services, actor: MemberActor, input: Input) => Output,
) {
  return ({ ctx, input }: { ctx: { services: Services; actor: MemberActor }; input: Input }): Output =>
    run(ctx.services, ctx.actor, input);
}

/** A function that starts a run, of a `startProcedure`. */
export function starter<Input extends object, Output>(
  run: (services: Services, actor: MemberActor, input: Input & { conditions: StartConditions }) => Output,
) {
  return ({ ctx, input }: { ctx: StartContext; input: Input }): Output =>
    run(ctx.services, ctx.actor, { ...input, conditions: ctx.conditions });
}

type StartContext = { services: Services; actor: MemberActor; conditions: StartConditions };

/** A verb of the catalog (`catalogVerb`) as a mutation. */
export function mutation<Schema extends z.ZodType, Result>({
  role,
  input,
  run,
}: {
  role: MemberRole;
  input: Schema;
  run: (services: Services, actor: MemberActor, input: unknown) => Promise<Result>;
}) {
  return memberProcedure(role).input(checkedInput(input)).mutation(resolver(run));
}
