import { prepareDatabase } from "@/server/base/db/prepare-database";
import { declareCommand } from "./command";

/** For deployments that migrate before the processes of a new version start. Without it, the first start migrates. */
export const migrateCommand = declareCommand({
  name: "migrate",
  summary: "Migrate the database to this version, as a start does",
  options: {},
  needs: "nothing",
  async run({ services, terminal }) {
    await prepareDatabase(services.env.databaseUrl, ".", terminal.err);
    return "The database has the schema of this version.";
  },
});
