/** A slug for a name: lower case, other characters as hyphens, at most 64 characters. */
export function slugOf(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 64)
    .replace(/^-+|-+$/g, "");
}

/** The slug and name of a copy. */
export function copyName({ slug, name }: { slug: string; name: string }): { slug: string; name: string } {
  return {
    slug: `${slug.slice(0, 59)}-copy`.replace(/-{2,}copy$/, "-copy"),
    name: `${name.slice(0, 193)} (copy)`,
  };
}
