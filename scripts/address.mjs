import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The address under which the service runs on this data folder, for the command line beside it: whoever started the
 * service with PORT or APP_URL need not say so again for the webhook addresses that a command prints.
 */

const fileOf = () => join(process.env.STEPWELL_DATA_DIR || ".data", "address");

/**
 * Notes the running service's address; the answer takes the note away again.
 * @param {string} appUrl
 * @returns {() => void}
 */
export function noteAddress(appUrl) {
  const file = fileOf();
  try {
    writeFileSync(file, `${appUrl}\n`);
  } catch {
    // Nothing of the service depends on it: with DATABASE_URL there may be no data folder at all.
  }
  return () => {
    if (existsSync(file) && readFileSync(file, "utf8").trim() === appUrl) rmSync(file, { force: true });
  };
}

/** Sets APP_URL to the running service's address, unless APP_URL or PORT is told. */
export function adoptAddress() {
  const file = fileOf();
  if (process.env.APP_URL || process.env.PORT || !existsSync(file)) return;
  process.env.APP_URL = readFileSync(file, "utf8").trim();
}
