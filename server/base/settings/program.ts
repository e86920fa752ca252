/** True in the package, which has no npm and no PostgreSQL. Its program sets the variable (scripts/package/stepwell.mjs). */
export const IS_PACKAGE = process.env.STEPWELL_PACKAGE === "1";

/** The start of a command line, for messages. */
export const CALL = IS_PACKAGE ? "stepwell" : "npm run -s stepwell --";
