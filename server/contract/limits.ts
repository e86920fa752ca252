/** Limits that pages and messages also show; those of bytes are in sizes.ts. */

export const MIN_PASSWORD_LENGTH = 8;
export const MAX_PASSWORD_LENGTH = 128;
/** A name of an agent, tool, trigger, key, person or organization, in characters. */
export const MAX_NAME_LENGTH = 200;
export const MAX_VIEW_NAME_LENGTH = 60;
/** A session ends this many days after its last use. */
export const SESSION_DAYS = 14;
/** A run that no worker claims ends after this time. */
export const MAX_PENDING_HOURS = 24;
/** A caller's own id of a start, in printable ASCII characters. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;
/** A repetition within this time returns the first answer. */
export const IDEMPOTENCY_HOURS = 24;
/** A link for a forgotten password. */
export const MAILED_LINK_LIFE = { hours: 1, text: "one hour" } as const;
/** A stream of events ends after this time, so that a lost reader cannot hold one forever. */
export const STREAM_MINUTES = 10;
/** The characters that a search of runs covers, as the SQL function run_text has them. */
export const SEARCHED_CHARACTERS = { text: 8_192, error: 2_048 } as const;
