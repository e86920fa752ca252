import { betterAuth } from "better-auth";
import { prismaAdapter } from "better-auth/adapters/prisma";
import type { MemberActor } from "@/server/base/actor";
import { newId } from "@/server/base/ids";
import { mintOrgId } from "@/server/base/mint-org-id";
import { perOwner } from "@/server/base/per-owner";
import { AUTH_COOKIE_PREFIX } from "@/server/catalog/auth/own-cookies";
import { hashSessionTokens } from "@/server/catalog/auth/session-tokens";
import type { Services } from "@/server/catalog/services";
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, SESSION_DAYS } from "@/server/contract/limits";
import { acquireRate } from "@/server/guard/limits/rate-limit";
import { SharedLookups } from "@/server/guard/limits/shared-lookups";

/** The header that passes the client's address to better-auth. */
export const CLIENT_ADDRESS_HEADER = "x-stepwell-client-address";

// better-auth keeps only users, sessions and passwords. Sign-up is disabled: the operator creates accounts,
// and invited people make their own.
function createAuth(services: Services) {
  const { env } = services;
  return betterAuth({
    appName: "Stepwell",
    baseURL: env.appUrl,
    basePath: "/api/auth",
    secret: env.secret,
    trustedOrigins: (request) => trustedOrigins(env.appUrl, request?.headers),
    database: hashSessionTokens(prismaAdapter(services.db, { provider: "postgresql" })),
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: MIN_PASSWORD_LENGTH,
      maxPasswordLength: MAX_PASSWORD_LENGTH,
    },
    session: {
      expiresIn: SESSION_DAYS * 24 * 3600,
      // Also the precision of a session's last use on the account page.
      updateAge: 3600,
      additionalFields: {
        activeOrganizationId: { type: "string", required: false, input: false, returned: true },
      },
    },
    rateLimit: {
      enabled: true,
      window: 60,
      max: 300,
      // admitSignIn counts sign-in attempts.
      customRules: { "/sign-in/email": false },
      customStorage: {
        consume: async (key, rule) => {
          const limit = { key: `auth:${key}`, limit: rule.max, seconds: rule.window };
          const decision = await acquireRate(services.pool, limit, { clock: services.clock });
          return { allowed: decision.allowed, retryAfter: decision.allowed ? null : decision.resetSeconds };
        },
      },
    },
    advanced: {
      cookiePrefix: AUTH_COOKIE_PREFIX,
      useSecureCookies: env.appUrl.startsWith("https://"),
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax", path: "/" },
      database: { generateId: () => newId() },
      ipAddress: { ipAddressHeaders: [CLIENT_ADDRESS_HEADER] },
    },
    logger: {
      log: (level, message, ...details) => {
        const write = level === "error" || level === "warn" ? services.log[level] : services.log.debug;
        write(`auth: ${message}`, details.length > 0 ? { details } : undefined);
      },
    },
  });
}

export const getAuth = perOwner(createAuth);

/** A signed-in person, with the data of every page's layout. `member` is null if they belong to no organization. */
export type Session = NonNullable<Awaited<ReturnType<typeof readSession>>>;

// A page makes many calls with one session.
const lookups = new SharedLookups<Session | null>();

/**
 * Reads the session cookie. The organization is the active one if the person is still its member, else the first
 * they joined. Null: not signed in. A `visit` extends the session.
 */
export async function sessionFromHeaders(
  services: Services,
  headers: Headers,
  { visit }: { visit: boolean } = { visit: true },
): Promise<Session | null> {
  const cookie = headers.get("cookie");
  if (cookie === null) return null;
  return lookups.share(services, `${visit} ${cookie}`, () => readSession(services, headers, visit));
}

async function readSession(services: Services, headers: Headers, visit: boolean) {
  const found = await getAuth(services).api.getSession({ headers, query: { disableRefresh: !visit } });
  if (!found) return null;
  const { id: userId, name, email } = found.user;
  const user = { id: userId, name, email, sessionId: found.session.id };
  const members = await services.db.member.findMany({
    where: { userId },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    select: {
      role: true,
      organization: { select: { id: true, slug: true, name: true, suspendedAt: true } },
    },
  });
  const active = found.session.activeOrganizationId;
  const chosen = members.find(({ organization }) => organization.id === active) ?? members[0];
  if (!chosen) return { user, member: null, organization: null };
  const { suspendedAt, ...organization } = chosen.organization;
  const member: MemberActor = {
    kind: "member",
    orgId: mintOrgId(organization.id),
    userId,
    name,
    role: chosen.role,
    ...(suspendedAt && { suspended: true }),
  };
  return { user, member, organization: { ...organization, suspended: suspendedAt !== null } };
}

/**
 * Returns true if the person is still signed in and has the same role in the organization, even if another one is
 * active. For long responses; it does not extend the session.
 */
export async function isStillMember(
  services: Services,
  headers: Headers,
  actor: MemberActor,
): Promise<boolean> {
  const session = await sessionFromHeaders(services, headers, { visit: false });
  if (session?.user.id !== actor.userId) return false;
  if (session.member?.orgId === actor.orgId) return session.member.role === actor.role;
  const { orgId: organizationId, userId, role } = actor;
  return (await services.db.member.count({ where: { organizationId, userId, role } })) > 0;
}

// The request's own host is allowed so that a new installation works at its IP address.
function trustedOrigins(appUrl: string, headers: Headers | undefined): string[] {
  const { origin, protocol } = new URL(appUrl);
  const host = headers?.get("host");
  return host ? [origin, `${protocol}//${host}`] : [origin];
}

/** Returns true if a state-changing request comes from our own pages (CSRF): by Sec-Fetch-Site, else by Origin. */
export function isSameOrigin(services: Pick<Services, "env">, headers: Headers): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin";
  const origin = headers.get("origin");
  return origin !== null && trustedOrigins(services.env.appUrl, headers).includes(origin);
}
