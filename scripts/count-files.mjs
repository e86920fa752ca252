import { readdirSync } from "node:fs";

/**
 * How many files are below `folder`; 0 when there is none. It is how a folder that lost files is told from a whole one.
 * @param {string} folder
 * @param {(name: string) => boolean} [skip] names of folders that do not count
 * @returns {number}
 */
export function countFiles(folder, skip = () => false) {
  let count = 0;
  for (const entry of readFolder(folder)) {
    if (!entry.isDirectory()) count += 1;
    else if (!skip(entry.name)) count += countFiles(`${folder}/${entry.name}`, skip);
  }
  return count;
}

/** @param {string} folder */
function readFolder(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && "code" in error && ["ENOENT", "ENOTDIR"].includes(String(error.code)))
      return [];
    throw error;
  }
}
