/** The header in which a page names a start: a repetition has the same name, and starts nothing. */
export const START_ID_HEADER = "x-stepwell-start-id";
