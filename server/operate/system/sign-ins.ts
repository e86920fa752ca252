import { listOperators } from "@/server/catalog/organization/operators";
import type { Services } from "@/server/services";

const SHOWN = 20;

/** The names of better-auth's providers. */
const METHODS: Record<string, string> = { credential: "Password" };

/** The newest sign-ins of all people whose session was not ended, and who is an operator. */
export async function readSignIns({ db }: Pick<Services, "db">) {
  const [sessions, operators] = await Promise.all([
    db.session.findMany({
      // Ids are in the order of creation, and indexed.
      orderBy: { id: "desc" },
      take: SHOWN,
      select: {
        createdAt: true,
        ipAddress: true,
        userAgent: true,
        user: {
          select: {
            name: true,
            email: true,
            operatorSince: true,
            accounts: { select: { providerId: true }, orderBy: { id: "asc" } },
          },
        },
      },
    }),
    listOperators({ db }),
  ]);
  return {
    operators: operators.map(({ email }) => email),
    signIns: sessions.map(({ createdAt, ipAddress, userAgent, user }) => ({
      at: createdAt.toISOString(),
      name: user.name,
      email: user.email,
      isOperator: user.operatorSince !== null,
      method: user.accounts.map(({ providerId }) => METHODS[providerId] ?? providerId).join(", "),
      address: ipAddress || null,
      userAgent,
    })),
  };
}
export type SignIn = Awaited<ReturnType<typeof readSignIns>>["signIns"][number];
