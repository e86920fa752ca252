import { CALL, IS_PACKAGE } from "@/server/base/settings/program";
import { type Command, declareCommand } from "./command";

/** Only for help: scripts/stepwell.mjs runs these commands, because `restore` works before there is a database. */

const declare = (name: string, summary: string) =>
  declareCommand({
    name,
    parameters: ["DIR"],
    summary,
    options: {},
    needs: "nothing",
    run: () =>
      Promise.reject(
        new Error(
          IS_PACKAGE
            ? "The package has no embedded database. Back up the database of DATABASE_URL with the tools of PostgreSQL."
            : `Call it as ${CALL} ${name} DIR`,
        ),
      ),
  });

export const backupCommands: readonly Command[] = [
  declare("backup", "Back up the embedded database and the secret, also while the service runs"),
  declare("restore", "Restore a backup into an empty data folder"),
];
