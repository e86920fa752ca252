/**
 * A part of the sandboxes' scripts: `Math.random` whose numbers follow from `seedRandom(text)`, the same on every replay.
 */
export const SEEDED_RANDOM = `
  let state = 0;
  // mulberry32
  Math.random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const seedRandom = (text) => {
    state = 2166136261;
    for (let i = 0; i < text.length; i += 1) state = Math.imul(state ^ text.charCodeAt(i), 16777619);
  };
`;
