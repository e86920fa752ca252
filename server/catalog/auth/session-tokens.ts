import type { prismaAdapter } from "better-auth/adapters/prisma";
import { sha256 } from "@/server/base/sha256";

type MakeAdapter = ReturnType<typeof prismaAdapter>;
type Adapter = ReturnType<MakeAdapter>;
type TransactionAdapter = Omit<Adapter, "transaction">;
type Condition = Parameters<Adapter["findOne"]>[0]["where"][number];

const PREFIX = "sha256:";

// A token has 32 random characters, so a plain hash cannot be reversed.
function hashToken(token: string): string {
  return PREFIX + sha256(token).toString("base64url");
}

const isStored = (token: string) => token.startsWith(PREFIX);

function hashConditions(where: Condition[], hash: (token: string) => string): Condition[] {
  return where.map((condition) => {
    const { field, value } = condition;
    if (field !== "token") return condition;
    if (typeof value === "string") return { ...condition, value: hash(value) };
    if (!Array.isArray(value)) return condition;
    return { ...condition, value: value.map((each) => hash(String(each))) };
  });
}

function tokenIn(where: Condition[]): string | undefined {
  const value = where.find(({ field, operator = "eq" }) => field === "token" && operator === "eq")?.value;
  return typeof value === "string" ? value : undefined;
}

// better-auth returns the row's token to the browser.
function withToken<Row>(row: Row, token: unknown): Row {
  if (typeof row === "object" && row !== null && token !== undefined) Object.assign(row, { token });
  return row;
}

/**
 * Stores only hashes of session tokens, because better-auth has no option for it. Listed sessions have hashes,
 * which can only end a session. Do not offer `revokeOtherSessions`: it would end the current session.
 */
export function hashSessionTokens(createAdapter: MakeAdapter): MakeAdapter {
  return (options) => {
    const adapter = createAdapter(options);
    return {
      ...adapter,
      ...hashingMethods(adapter),
      transaction: (work) => adapter.transaction((trx) => work({ ...trx, ...hashingMethods(trx) })),
    };
  };
}

function hashingMethods(adapter: TransactionAdapter) {
  const hashed = <Query extends { model: string; where: Condition[] }>(query: Query): Query =>
    query.model === "session" ? { ...query, where: hashConditions(query.where, hashToken) } : query;
  const named = <Query extends { model: string; where?: Condition[] | undefined }>(query: Query): Query =>
    query.model === "session" && query.where !== undefined
      ? {
          ...query,
          where: hashConditions(query.where, (token) => (isStored(token) ? token : hashToken(token))),
        }
      : query;
  return {
    async create<T extends Record<string, unknown>, R = T>(
      query: Parameters<typeof adapter.create<T, R>>[0],
    ) {
      const token = query.model === "session" ? query.data.token : undefined;
      if (typeof token !== "string") return adapter.create<T, R>(query);
      const data = Object.assign({}, query.data, { token: hashToken(token) });
      return withToken(await adapter.create<T, R>({ ...query, data }), token);
    },
    async findOne<T>(query: Parameters<typeof adapter.findOne>[0]) {
      const token = query.model === "session" ? tokenIn(query.where) : undefined;
      return withToken(await adapter.findOne<T>(hashed(query)), token);
    },
    async update<T>(query: Parameters<typeof adapter.update>[0]) {
      const token = query.model === "session" ? tokenIn(query.where) : undefined;
      return withToken(await adapter.update<T>(hashed(query)), token);
    },
    findMany: (query) => adapter.findMany(named(query)),
    count: (query) => adapter.count(named(query)),
    updateMany: (query) => adapter.updateMany(hashed(query)),
    delete: (query) => adapter.delete(named(query)),
    deleteMany: (query) => adapter.deleteMany(named(query)),
    consumeOne: (query) => adapter.consumeOne(hashed(query)),
  } satisfies Partial<TransactionAdapter>;
}
