function slugOf(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 64)
    .replace(/^-+|-+$/g, "");
}

type Named = { slug: string; name: string };

/** The new name of something that is not saved yet. The slug follows the name until it is changed by hand. */
export function rename({ slug, name }: Named, to: string): Named {
  return { name: to, slug: slug === slugOf(name) ? slugOf(to) : slug };
}

export function copyName({ slug, name }: Named): Named {
  return {
    slug: `${slug.slice(0, 59)}-copy`.replace(/-{2,}copy$/, "-copy"),
    name: `${name.slice(0, 193)} (copy)`,
  };
}
