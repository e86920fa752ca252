import { initTRPC, TRPCError } from "@trpc/server";
import type { OpenApiMeta } from "trpc-to-openapi";
import { type Actor, type MemberActor, type MemberRole, roleCovers } from "@/server/base/actor";
import { AppError, type Issue, isAppError } from "@/server/base/errors";
import { writeJson } from "@/server/base/json/json";
import { requirePageOrganization } from "@/server/catalog/auth/page-organization";
import { isOperator } from "@/server/catalog/organization/operators";
import type { ErrorCode } from "@/server/contract/errors";
import { queueDashboardCall } from "@/server/guard/limits/dashboard-queue";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { hashRequest, type IdempotentRequest } from "@/server/runs/idempotency";
import type { StartConditions } from "@/server/runs/start-item";
import type { StartOptions } from "@/server/runs/start-options";
import type { Services } from "@/server/services";
import { readSent } from "./sent-input";

export type ApiContext = {
  services: Services;
  actor: Actor | null;
  requestId: string;
  sessionId?: string | undefined;
  /** The organization and person of the calling page (`pageOf`). */
  pageOrganization?: string | null | undefined;
  /** Names a start of a page, and its repetitions. */
  startId?: string | null | undefined;
  /** Of procedures under `/v1`. */
  call?: ApiCall | undefined;
};

/** A call by API key, beside its actor and input. */
export type ApiCall = {
  /** As sent, to authenticate a call again that takes long. */
  key: string | null;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Those that the endpoint declares, as sent. Of a start they are `repetition` and `options`. */
  headers: Readonly<Record<string, string>>;
  memory: StepMemory;
  /** Identifies a start that its sender may repeat. */
  repetition?: Pick<IdempotentRequest, "key" | "requestHash"> | undefined;
  options?: StartOptions | undefined;
};

type ShownError = { code: ErrorCode; message: string; requestId: string; issues?: Issue[] };

const t = initTRPC
  .context<ApiContext>()
  // Only the procedures of `/v1` have it (endpoint.ts).
  .meta<OpenApiMeta>()
  .create({
    errorFormatter: ({ shape, error, ctx }) => {
      const shown = showError(error, ctx?.requestId ?? "");
      return { ...shape, message: shown.message, data: { httpStatus: shape.data.httpStatus, shown } };
    },
  });

export const router = t.router;
export const createCallerFactory = t.createCallerFactory;

/** AppErrors completely, input errors with their issues, nothing of others. */
function showError(error: TRPCError, requestId: string): ShownError {
  const { cause } = error;
  if (isAppError(cause)) {
    return {
      code: cause.code,
      message: cause.message,
      requestId,
      ...(cause.issues ? { issues: cause.issues } : {}),
    };
  }
  if (error.code === "BAD_REQUEST")
    return { code: "invalid_request", message: "The request is not valid.", requestId };
  if (error.code === "NOT_FOUND") return { code: "not_found", message: "Not found.", requestId };
  return {
    code: "internal_error",
    message: `The service failed. Its log has the cause under the request id ${requestId}.`,
    requestId,
  };
}

const TRPC_CODES = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_SUPPORTED",
  409: "CONFLICT",
  412: "PRECONDITION_FAILED",
  413: "PAYLOAD_TOO_LARGE",
  429: "TOO_MANY_REQUESTS",
} as const;

function toTrpcError(error: AppError): TRPCError {
  const code = Object.entries(TRPC_CODES).find(([status]) => Number(status) === error.status)?.[1];
  return new TRPCError({ code: code ?? "INTERNAL_SERVER_ERROR", message: error.message, cause: error });
}

const withErrors = t.middleware(async ({ ctx, path, next, signal }) => {
  const result = await next();
  if (result.ok || signal?.aborted) return result;
  const { cause } = result.error;
  if (isAppError(cause)) throw toTrpcError(cause);
  if (result.error.code === "INTERNAL_SERVER_ERROR") {
    ctx.services.log.error("A procedure failed", {
      requestId: ctx.requestId,
      path,
      error: cause ?? result.error,
    });
  }
  return result;
});

const withSentInput = t.middleware(({ getRawInput, next }) =>
  next({
    async getRawInput() {
      const input = await getRawInput();
      return typeof input === "string" ? readSent(input) : input;
    },
  }),
);

/** Of `/v1`, without middleware: the REST handler renders errors, and tRPC copies the call for each middleware. */
export const restProcedure = t.procedure;

/**
 * For members with at least the role `needed`. Organizations' calls are executed in turn, unless they wait for
 * other servers. @param options.anyPage also for pages of another organization than the session's
 */
export function memberProcedure(needed: MemberRole, { waitsOutside = false, anyPage = false } = {}) {
  return t.procedure
    .use(withErrors)
    .use(({ ctx, next, signal }) => {
      const actor = requireMember(anyPage ? { ...ctx, pageOrganization: null } : ctx, needed);
      const work = () => next({ ctx: { ...ctx, actor } });
      return waitsOutside ? work() : queueDashboardCall(ctx.services, actor.orgId, { work, signal });
    })
    .use(withSentInput);
}

/**
 * For members who start a run. A page names each start: if it repeats the call, because the answer was lost, no other
 * run starts.
 */
export const startProcedure = memberProcedure("member").use(async ({ ctx, path, getRawInput, next }) => {
  const { actor, startId } = ctx;
  const conditions: StartConditions = {};
  if (startId) {
    conditions.idempotency = {
      scope: "page",
      key: `${actor.userId} ${startId}`,
      requestHash: hashRequest(path, writeJson(await getRawInput())),
      answer: (runId) => ({ runId }),
    };
  }
  return next({ ctx: { ...ctx, conditions } });
});

/** For operators, in whichever organization and role they are. */
export function operatorProcedure(options: { waitsOutside?: boolean } = {}) {
  return memberProcedure("viewer", options).use(async ({ ctx, next }) => {
    if (!(await isOperator(ctx.services, ctx.actor.userId))) {
      throw new AppError("forbidden", "Only operators of this installation may do this.");
    }
    return next();
  });
}

/** Throws `unauthenticated`, `conflict` or `forbidden`. */
function requireMember({ actor, pageOrganization }: ApiContext, needed: MemberRole): MemberActor {
  if (actor?.kind !== "member") throw new AppError("unauthenticated", "Sign in to continue.");
  requirePageOrganization(actor, pageOrganization);
  if (!roleCovers(actor.role, needed)) {
    throw new AppError("forbidden", `This needs the role ${needed}; yours is ${actor.role}.`);
  }
  return actor;
}
